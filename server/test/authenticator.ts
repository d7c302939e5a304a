import { AuthenticatorEmulator, PasskeysCredentialsMemoryRepository, WebAuthnEmulator } from 'nid-webauthn-emulator'
import type { Client } from './client.ts'
import type { TestApp } from './harness.ts'

/** How the browser or the authenticator lies; without one it is honest. */
export interface Deviation {
  origin?: string
  rpId?: string
  challenge?: string
}

/** A browser with a device that keeps passkeys. */
export class Authenticator {
  readonly #app: TestApp
  readonly #emulator: WebAuthnEmulator

  /** Whether the device checks its user before it answers. */
  userVerified = true

  constructor(app: TestApp) {
    this.#app = app
    const interaction = () => ({ options: { uv: this.userVerified, up: true } })
    this.#emulator = new WebAuthnEmulator(
      new AuthenticatorEmulator({
        userMakeCredentialInteraction: interaction,
        userGetAssertionInteraction: interaction,
        credentialsRepository: new PasskeysCredentialsMemoryRepository(),
      }),
    )
  }

  /** Creates a passkey for the options of the service, but does not register it. */
  create(options: Record<string, unknown>, { origin = this.#origin, rpId, challenge }: Deviation = {}) {
    const rp = { ...(options.rp as object), ...(rpId ? { id: rpId } : {}) }
    const changed = { ...options, rp, ...(challenge ? { challenge } : {}) }
    return this.#emulator.createJSON(origin, changed as never, [origin])
  }

  use(options: Record<string, unknown>, { origin = this.#origin, rpId, challenge }: Deviation = {}) {
    const changed = { ...options, ...(rpId ? { rpId } : {}), ...(challenge ? { challenge } : {}) }
    return this.#emulator.getJSON(origin, changed as never, [origin])
  }

  /** Adds a passkey of this device to the account of a person. */
  async register(person: Client, name = 'Laptop', deviation?: Deviation) {
    const { body: options } = await person.post('/auth/passkeys/options')
    return person.post('/auth/passkeys', { name, credential: this.create(options, deviation) })
  }

  async signIn(deviation?: Deviation) {
    const { body: options } = await this.#app.anonymous.post('/auth/passkey-sign-in/options')
    return this.#app.anonymous.post('/auth/passkey-sign-in', { credential: this.use(options, deviation) })
  }

  get #origin() {
    return this.#app.ctx.config.rootUrl
  }
}
