import { type BrowserContext, type ConsoleMessage, expect } from '@playwright/test'

/**
 * Everything that went wrong in the test's browsers: errors on the console, uncaught errors, and what the content
 * security policy blocked. Anything that was not expected fails the test.
 */
export class Faults {
  readonly #found: string[] = []
  readonly #expected: { pattern: RegExp; seen: boolean }[] = []
  readonly #allowed: RegExp[] = []

  /** Says beforehand that this will be on the console, such as a refusal's /status of 422/. It has to come. */
  expect(pattern: RegExp) {
    this.#expected.push({ pattern, seen: false })
  }

  /** The same for what comes or not, such as a try while there is no network. */
  allow(pattern: RegExp) {
    this.#allowed.push(pattern)
  }

  async watch(context: BrowserContext) {
    context.on('console', (message) => {
      if (message.type() === 'error' && !isAskingWhoIAm(message)) this.#note(textOf(message))
    })
    context.on('weberror', (error) => this.#note(`uncaught: ${error.error().stack ?? error.error().message}`))
    await context.addInitScript(() => {
      addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
        console.error(`blocked by ${violatedDirective}: ${blockedURI} (${sourceFile}:${lineNumber})`),
      )
    })
  }

  check() {
    const missing = this.#expected.filter(({ seen }) => !seen).map(({ pattern }) => `never came: ${pattern}`)
    expect([...this.#found, ...missing], 'faults in the browser').toEqual([])
  }

  #note(text: string) {
    const expected = this.#expected.find(({ pattern }) => pattern.test(text))
    if (expected) expected.seen = true
    else if (!this.#allowed.some((pattern) => pattern.test(text))) this.#found.push(text)
  }
}

const textOf = (message: ConsoleMessage) => `${message.text()} (${message.location().url})`

/** The browser calls every refusal an error; this one is how a page learns that nobody is signed in. */
const isAskingWhoIAm = (message: ConsoleMessage) =>
  message.location().url.endsWith('/api/v1/auth/me') && message.text().includes('status of 401')
