// What the globals are.

const version = '18.3.1-builtin';
global.React = {
  createElement, cloneElement, isValidElement, createContext, Children, Component, PureComponent, Fragment, version,
  StrictMode, Suspense, Profiler,
  createFactory: (type) => createElement.bind(null, type),
  createRef: () => ({ current: null }),
  memo: (type, compare) => ({ $$typeof: MEMO, type, compare: compare || null }),
  forwardRef: (render) => ({ $$typeof: FORWARD, render }),
  useState, useReducer, useEffect, useLayoutEffect, useInsertionEffect, useRef, useMemo, useCallback, useContext, useId,
  useImperativeHandle, useSyncExternalStore,
  useDebugValue: () => {},
  useDeferredValue: (value) => value,
  useTransition: () => [false, (work) => work()],
  startTransition: (work) => work(),
};
global.ReactDOM = {
  createRoot, flushSync, version,
  createPortal: (children, container, key) => ({
    $$typeof: PORTAL, type: PORTAL, key: isGiven(key) ? '' + key : null, ref: null,
    props: { children, container },
  }),
  unstable_batchedUpdates: (work, value) => work(value),
};
