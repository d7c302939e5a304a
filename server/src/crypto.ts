import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A secret is 32 random bytes; only its hash, or a sealed copy, is ever stored. */
export const newSecret = (prefix: string) => `${prefix}${randomBytes(32).toString('base64url')}`

export const sha256 = (text: string) => createHash('sha256').update(text).digest()

export const sameBytes = (a: Buffer, b: Buffer) => a.length === b.length && timingSafeEqual(a, b)

const keyId = (key: Buffer) => createHash('sha256').update('baton key id').update(key).digest('hex').slice(0, 8)

/** The service's keys: the current one seals and signs, previous ones only open. */
export class Keyring {
  #current: Buffer
  readonly #byId: Map<string, Buffer>

  constructor(current: Buffer, previous: readonly Buffer[] = []) {
    this.#current = current
    this.#byId = new Map([current, ...previous].map((key) => [keyId(key), key]))
  }

  /** From now on seals and signs with another key; the old one still opens. */
  rotate(key: Buffer) {
    this.#current = key
    this.#byId.set(keyId(key), key)
  }

  /** Ids of the keys: the current one first. */
  get keyIds(): string[] {
    const current = keyId(this.#current)
    return [current, ...[...this.#byId.keys()].filter((id) => id !== current)]
  }

  /** AES-256-GCM as `v1.<key id>.<nonce>.<ciphertext>`; `owner` binds it to the record it belongs to. */
  seal(plain: string, owner: string): string {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#current, nonce).setAAD(Buffer.from(owner))
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `${this.currentPrefix}${nonce.toString('base64url')}.${sealed.toString('base64url')}`
  }

  open(sealed: string, owner: string): string {
    const [version, id = '', nonce = '', payload = ''] = sealed.split('.')
    const key = this.#byId.get(id)
    if (version !== 'v1' || !key) throw new UnknownKeyError()
    const bytes = Buffer.from(payload, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'))
      .setAAD(Buffer.from(owner))
      .setAuthTag(bytes.subarray(-16))
    return decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8')
  }

  /** Prefix of everything sealed with the current key. */
  get currentPrefix() {
    return `v1.${keyId(this.#current)}.`
  }

  /** Authenticates a text that the service gives out and must get back unchanged, such as a cursor. */
  mac(purpose: string, text: string): Buffer {
    return macWith(this.#current, purpose, text)
  }

  /** Whether it begins the MAC of the text with the current or a previous key: for texts that outlive a key. */
  hasMac(purpose: string, text: string, beginning: Buffer): boolean {
    const keys = [...this.#byId.values()]
    return keys.some((key) => sameBytes(macWith(key, purpose, text).subarray(0, beginning.length), beginning))
  }
}

const macWith = (key: Buffer, purpose: string, text: string) =>
  createHmac('sha256', key).update(`${purpose}\0${text}`).digest()

export class UnknownKeyError extends Error {
  constructor() {
    super('sealed with an unknown key')
  }
}
