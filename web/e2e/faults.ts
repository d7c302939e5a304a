import { type BrowserContext, type ConsoleMessage, expect } from '@playwright/test'

/**
 * Collects console errors, uncaught errors and violations of the content security policy in the test's browsers. Each
 * unexpected one fails the test.
 */
export class Faults {
  readonly #found: string[] = []
  readonly #expected: { pattern: RegExp; seen: boolean }[] = []
  readonly #allowed: RegExp[] = []

  /** Announces a console error, such as /status of 422/ of a refusal. The test fails if it does not occur. */
  expect(pattern: RegExp) {
    this.#expected.push({ pattern, seen: false })
  }

  /** Allows an error that may or may not occur, such as a request without a network. */
  allow(pattern: RegExp) {
    this.#allowed.push(pattern)
  }

  async watch(context: BrowserContext) {
    context.on('console', (message) => {
      if (message.type() === 'error' && !isSignedOutCheck(message)) this.#note(textOf(message))
    })
    context.on('weberror', (error) => this.#note(`uncaught: ${error.error().stack ?? error.error().message}`))
    await context.addInitScript(() => {
      addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
        console.error(`blocked by ${violatedDirective}: ${blockedURI} (${sourceFile}:${lineNumber})`),
      )
    })
  }

  check() {
    const missing = this.#expected.filter(({ seen }) => !seen).map(({ pattern }) => `did not occur: ${pattern}`)
    expect([...this.#found, ...missing], 'faults in the browser').toEqual([])
  }

  #note(text: string) {
    const expected = this.#expected.find(({ pattern }) => pattern.test(text))
    if (expected) expected.seen = true
    else if (!this.#allowed.some((pattern) => pattern.test(text))) this.#found.push(text)
  }
}

const textOf = (message: ConsoleMessage) => `${message.text()} (${message.location().url})`

/** The browser logs each 4xx response as an error. This one only means that the user is signed out. */
const isSignedOutCheck = (message: ConsoleMessage) =>
  message.location().url.endsWith('/api/v1/auth/me') && message.text().includes('status of 401')
