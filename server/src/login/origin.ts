import { type Config, isLoopback } from '../config.ts'
import { ApiError } from '../http/errors.ts'

/** Refuses the request of a page that the browser opened at another address than ours. Programs send no `Origin`. */
export function refuseOtherOrigin(origin: string | string[] | undefined, config: Config) {
  if (origin !== undefined && !isOwnOrigin(String(origin), config)) throw otherOrigin(config)
}

/** The message is for the visitor of an instance that is reachable under several names. */
export const otherOrigin = ({ rootUrl }: Config) =>
  new ApiError(
    'CSRF_REFUSED',
    {},
    {
      message: `This instance expects its pages at ${rootUrl}. Open it there. For another address, the operator sets BATON_ROOT_URL.`,
    },
  )

/** On a loopback address, localhost, 127.0.0.1 and [::1] count as the same origin. */
export function isOwnOrigin(origin: string, { rootUrl }: Config): boolean {
  if (origin === rootUrl) return true
  if (!URL.canParse(origin)) return false
  const [sent, own] = [new URL(origin), new URL(rootUrl)]
  return (
    [sent, own].every(({ hostname }) => isLoopback(hostname)) &&
    sent.origin === origin &&
    sent.protocol === own.protocol &&
    sent.port === own.port
  )
}
