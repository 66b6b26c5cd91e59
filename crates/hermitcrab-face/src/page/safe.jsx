export default function SafeFace(props) {
  return <main style={{ padding: 16, color: '#e8e6f0' }}><h1>Safe face</h1><p>{props.reason}</p></main>;
}
