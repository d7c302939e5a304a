import type { Page, PageRequest } from '../http/web-page.ts'
import { bodyFor, type WebFiles } from './files.ts'

/**
 * The page runs its own scripts and styles, speaks to its own instance, and stands in nobody's frame. Pictures may be
 * data, because the page draws some itself.
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

/** It copies to the clipboard; it needs nothing else of the machine it is shown on. */
const permissions = ['camera', 'geolocation', 'microphone', 'payment', 'usb', 'serial', 'bluetooth', 'display-capture']
  .map((name) => `${name}=()`)
  .join(', ')

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  // It names the files of its build, so every visit asks for it anew.
  'cache-control': 'no-cache',
  'content-security-policy': policy,
  'permissions-policy': permissions,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  vary: 'accept',
}

/** What belongs to others than the web app, whether or not there is something at that very path. */
const taken = /^\/(api|docs|mcp|metrics|healthz|readyz|\.well-known|llms\.txt|assets)(\/|$)/

export const appPage = ({ page }: WebFiles): Page => ({ body: page, headers: pageHeaders })

/** What the web app answers where no operation does: a file by its exact path, or the page that finds its own way. */
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
        // Names under assets hold a hash of what is in them.
        'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
        vary: 'accept-encoding',
        ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
      },
    }
  }
  return accept.includes('text/html') && !taken.test(path) && isPlain(path) ? appPage(web) : undefined
}

/** No address of ours climbs, hides or smuggles; who asks for one like that is not looking for a page. */
function isPlain(path: string): boolean {
  if (!path.startsWith('/') || /%(2f|5c)|\\|\/\//i.test(path)) return false
  try {
    const decoded = decodeURIComponent(path)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    return !/\/\.|[\u0000-\u001f\u007f]/.test(decoded)
  } catch {
    return false
  }
}
