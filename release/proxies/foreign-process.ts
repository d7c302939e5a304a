import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A program of others that listens on a port of 127.0.0.1. */
export class ForeignProcess {
  readonly #child: ChildProcess
  #output = ''

  private constructor(command: string, args: string[], env: Record<string, string>) {
    this.#child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    const abandon = () => this.#child.kill('SIGKILL')
    process.once('exit', abandon)
    this.#child.once('close', () => process.off('exit', abandon))
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (text) => {
        this.#output += text
      })
    }
  }

  /** Resolves when it listens. */
  static async start(command: string, args: string[], port: number, env: Record<string, string> = {}) {
    const started = new ForeignProcess(command, args, env)
    for (let tries = 0; tries < 600; tries++) {
      if (started.#child.exitCode !== null) throw new Error(`${command} ended: ${started.#output}`)
      if (await isListening(port)) return started
      await sleep(50)
    }
    await started.stop()
    throw new Error(`${command} does not listen: ${started.#output}`)
  }

  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGTERM')
    // Caddy waits for open streams.
    const patience = setTimeout(() => this.#child.kill('SIGKILL'), 2000)
    await once(this.#child, 'close')
    clearTimeout(patience)
  }
}

async function isListening(port: number) {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
