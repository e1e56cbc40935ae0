//! Agents: the MCP service over the tool table, its socket and the stdio shim.
