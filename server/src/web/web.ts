import type { Page, PageRequest } from '../http/web-page.ts'
import { bodyFor, type WebFiles } from './files.ts'

/**
 * Scripts, styles and connections only from this instance; no framing. Images may be data: URLs, because the page draws
 * some itself.
 */
const policy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'self'",
].join('; ')

/** The web app uses the clipboard and no other device features. */
const permissions = ['camera', 'geolocation', 'microphone', 'payment', 'usb', 'serial', 'display-capture']
  .map((name) => `${name}=()`)
  .join(', ')

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // It names the files of its build, so browsers must revalidate it at each visit.
  'cache-control': 'no-cache',
  'content-security-policy': policy,
  'permissions-policy': permissions,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  vary: 'accept',
}

/** Paths outside the web app, whether or not they exist. */
const reserved = /^\/(api|docs|linear|mcp|metrics|healthz|readyz|\.well-known|llms\.txt|assets)(\/|$)/

export const appPage = ({ page }: WebFiles): Page => ({ body: page, headers: pageHeaders })

/** The response where no operation matches: a file by its exact path, or the page, which does its own routing. */
export function webPage(web: WebFiles, { method, path, accept, acceptEncoding }: PageRequest): Page | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined
  const file = web.files.get(path)
  const found = file && bodyFor(file, acceptEncoding)
  if (found) {
    const { encoding, body } = found
    return {
      body,
      headers: {
        'content-type': file.type,
        // File names under assets contain a hash of their content.
        'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
        vary: 'accept-encoding',
        ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
      },
    }
  }
  return accept.includes('text/html') && !reserved.test(path) && isPlain(path) ? appPage(web) : undefined
}

/** Rejects traversal, dotfiles, encoded slashes and control characters. */
function isPlain(path: string): boolean {
  if (!path.startsWith('/') || /%(2f|5c)|\\|\/\//i.test(path)) return false
  try {
    const decoded = decodeURIComponent(path)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: rejects control characters
    return !/\/\.|[\u0000-\u001f\u007f]/.test(decoded)
  } catch {
    return false
  }
}
