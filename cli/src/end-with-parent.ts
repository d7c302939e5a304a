// Loaded into the agent's process before its own code. Ends the agent when `baton dev` has ended in any way, so that it
// does not keep the port.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// The channel alone must not keep the process alive.
process.channel?.unref()
