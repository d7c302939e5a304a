// Loaded into the agent's process before its own code: when `baton dev` is gone, however it ended, so is the agent.
// Otherwise one that nobody sees would keep the port.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// Whether there is anything left to do is for the agent's own code to say.
process.channel?.unref()
