import type { Issue, LiveChange } from '@baton/protocol'
import { onTestFinished, vi } from 'vitest'

type Handler = (query: URLSearchParams, body: Record<string, unknown>) => unknown

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

/** A refusal that a handler returns. */
export class Refusal {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string) {
    this.status = status
    this.code = code
  }
}

/**
 * The browser globals that the data layer needs, on fake timers, with a network that the test answers. Call it before
 * importing the modules under test, with `await import`.
 */
export function fakeBrowser() {
  vi.resetModules()
  vi.useFakeTimers()
  const handlers = new Map<string, Handler>()
  const calls: string[] = []
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined
  const send = (event: string, data: unknown) =>
    stream?.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`))

  const fetch = async (input: string, init?: RequestInit) => {
    const { pathname, searchParams } = new URL(input, 'http://baton.test')
    const call = `${init?.method ?? 'GET'} ${pathname.replace('/api/v1', '')}`
    if (call === 'GET /live') {
      return new Response(
        new ReadableStream({
          start: (controller) => {
            stream = controller
            send('ready', {})
          },
        }),
      )
    }
    calls.push(call)
    const handler = handlers.get(call)
    const body = typeof init?.body === 'string' ? JSON.parse(init.body) : {}
    const answer = handler ? await handler(searchParams, body) : new Refusal(404, 'RESOURCE_NOT_FOUND')
    return answer instanceof Refusal
      ? json(answer.status, { code: answer.code, message: answer.code, details: {} })
      : json(200, answer)
  }

  vi.stubGlobal('localStorage', { getItem: () => 'wsp_1', setItem: () => {} })
  vi.stubGlobal('location', { origin: 'http://baton.test', pathname: '/issues', search: '' })
  vi.stubGlobal('navigator', {
    platform: 'Linux',
    locks: { request: (_name: string, _options: unknown, work: (lock: object) => unknown) => work({}) },
  })
  vi.stubGlobal(
    'BroadcastChannel',
    class {
      postMessage() {}
    },
  )
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('removeEventListener', () => {})
  vi.stubGlobal('fetch', fetch)
  onTestFinished(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  return {
    /** Answers calls such as `GET /issues`. Calls without a handler are answered 404. */
    on: (call: string, handler: Handler) => void handlers.set(call, handler),
    /** How often an operation was called. */
    count: (call: string) => calls.filter((one) => one === call).length,
    hint: async (type: LiveChange['type'], action: LiveChange['action'], id: string) => {
      send('change', { type, action, id, parent_id: null })
      await vi.advanceTimersByTimeAsync(10)
    },
    settle: () => vi.advanceTimersByTimeAsync(2000),
  }
}

/** An answer that the test gives later. */
export function later<T>() {
  let give: (value: T) => void = () => {}
  const answer = new Promise<T>((resolve) => {
    give = resolve
  })
  return { answer, give }
}

export const page = <Item>(...data: Item[]) => ({ data, next_cursor: null })

export const issueNumber = (number: number, fields: Partial<Issue> = {}) =>
  ({
    id: `iss_${number}`,
    code: `ENG-${number}`,
    title: `Issue ${number}`,
    status: 'todo',
    project_id: null,
    team_id: null,
    assignee_id: 'usr_me',
    delegate_id: null,
    personal: false,
    updated_at: '2026-01-01T00:00:00.000Z',
    ...fields,
  }) as Issue
