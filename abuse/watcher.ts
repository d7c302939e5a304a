import type { Caller } from './callers.ts'

/** Reads the live stream of a workspace during the whole run. */
export class Watcher {
  readonly caller: Caller
  received = ''
  readonly #over = new AbortController()

  constructor(rootUrl: string, caller: Caller) {
    this.caller = caller
    void this.#read(rootUrl)
  }

  close() {
    this.#over.abort()
  }

  async #read(rootUrl: string) {
    const decoder = new TextDecoder()
    try {
      const { body } = await fetch(`${rootUrl}/api/v1/live?workspace_id=${this.caller.workspaceId}`, {
        headers: this.caller.headers,
        signal: this.#over.signal,
      })
      for await (const chunk of body ?? []) this.received += decoder.decode(chunk, { stream: true })
    } catch (error) {
      if (!this.#over.signal.aborted) throw error
    }
  }
}
