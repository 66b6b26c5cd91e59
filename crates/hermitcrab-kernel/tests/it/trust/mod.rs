//! The origins of texts from outside: with messages, in logs and as labels of nodes.

mod labels;
