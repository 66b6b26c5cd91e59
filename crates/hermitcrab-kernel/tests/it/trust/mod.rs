//! The origins of texts from outside: with messages, in logs, as labels of nodes and marks, and the edits that wait because of them.

mod attacks;
mod brain;
mod gate;
mod honest;
mod labels;
mod marks;
mod names;
mod queue;
mod servers;
mod session;
mod window;
