import type { Contract } from './contract.ts'

export interface Response {
  status: number
  headers: Headers
  // Tests access any field; the contract has already checked the shape.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any
}

export interface RequestOptions {
  headers?: Record<string, string>
  /** Sent instead of JSON. */
  raw?: string | Uint8Array
}

/** Calls the API over a real socket, as one caller. */
export class Client {
  readonly rootUrl: string
  readonly #contract: Contract
  readonly #headers: Record<string, string>

  constructor(rootUrl: string, contract: Contract, headers: Record<string, string> = {}) {
    this.rootUrl = rootUrl
    this.#contract = contract
    this.#headers = headers
  }

  with(headers: Record<string, string>) {
    return new Client(this.rootUrl, this.#contract, { ...this.#headers, ...headers })
  }

  get = (path: string, options?: RequestOptions) => this.request('GET', path, undefined, options)
  post = (path: string, body?: unknown, options?: RequestOptions) => this.request('POST', path, body, options)
  put = (path: string, body?: unknown, options?: RequestOptions) => this.request('PUT', path, body, options)
  patch = (path: string, body?: unknown, options?: RequestOptions) => this.request('PATCH', path, body, options)
  delete = (path: string, options?: RequestOptions) => this.request('DELETE', path, undefined, options)

  request(method: string, path: string, body?: unknown, options?: RequestOptions) {
    return this.#send(method, `/api/v1${path}`, body, options)
  }

  /** Outside the versioned API. */
  getRoot(path: string, options?: RequestOptions) {
    return this.#send('GET', path, undefined, options)
  }

  postRoot(path: string, body?: unknown, options?: RequestOptions) {
    return this.#send('POST', path, body, options)
  }

  async #send(method: string, path: string, body: unknown, { headers, raw }: RequestOptions = {}) {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(`${this.rootUrl}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...this.#headers,
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
    })
    const answer: Response = { status: response.status, headers: response.headers, body: await bodyOf(response) }
    this.#contract.check({ method, path, ...answer })
    return answer
  }
}

async function bodyOf(response: globalThis.Response) {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream') && response.body) {
    // A stream has no end; test/watch.ts reads it.
    await response.body.cancel()
    return ''
  }
  const text = await response.text()
  if (text === '') return undefined
  return type.includes('application/json') ? JSON.parse(text) : text
}
