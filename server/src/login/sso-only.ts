import type { Config } from '../config.ts'
import { ApiError } from '../http/errors.ts'

type SsoConfig = Config & { sso?: { only: boolean; breakGlass: string | null } }

/** Whether only a provider lets this address in. The break-glass account keeps its password. */
export const needsSso = ({ sso }: SsoConfig, email?: string) =>
  Boolean(sso?.only) && (email === undefined || email !== sso?.breakGlass)

/** Refuses what an instance with single sign-on only does not offer; with `email`, except to the break-glass account. */
export function refuseInSsoOnly(config: SsoConfig, email?: string) {
  if (needsSso(config, email)) throw new ApiError('SSO_REQUIRED')
}
