//! The runtime's sockets: hello, framing, client and server side, shared by the front doors.
