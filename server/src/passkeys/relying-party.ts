import ipaddr from 'ipaddr.js'
import type { Config } from '../config.ts'
import { ApiError } from '../http/errors.ts'

/** Browsers bind passkeys to a host name, so there are none for an IP address. */
export const passkeysWork = ({ rootUrl }: Config) => !ipaddr.isValid(hostOf(rootUrl).replace(/^\[|\]$/g, ''))

/** The RP id and the only origin whose responses are accepted. */
export function relyingParty(config: Config) {
  if (!passkeysWork(config)) {
    const message = 'Passkeys need a host name in the address of this instance, not an IP address.'
    throw new ApiError('FORBIDDEN', {}, { message })
  }
  return { rpId: hostOf(config.rootUrl), origin: config.rootUrl }
}

const hostOf = (rootUrl: string) => new URL(rootUrl).hostname
