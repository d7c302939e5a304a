import { UsageError } from './failure.ts'

/** The address of a service that was started without settings. */
export const defaultUrl = 'http://localhost:3000'

/** Normalizes the URL of a service: no query, no trailing slash, no /api/v1. */
export function serviceUrl(given: string): string {
  const address = /^[a-z]+:\/\//i.test(given) ? given : `http://${given}`
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new UsageError(`${given} is not the URL of a service, such as ${defaultUrl}.`)
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
}

export function httpUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`${given} is not an http or https URL.`)
  return url.href
}
