import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

// Encrypts and authenticates a cookie, so that the browser can neither read nor change it.

export const sealingKey = (...secrets: string[]) =>
  Buffer.from(hkdfSync('sha256', secrets.join('\n'), '', 'baton install cookie', 32))

export function seal(key: Buffer, value: object): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const text = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
}

export function open<T>(key: Buffer, sealed: string): T | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < 28) return null
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
    decipher.setAuthTag(bytes.subarray(12, 28))
    return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString())
  } catch {
    return null
  }
}
