import { limits } from '@baton/protocol'
import type { Config } from '../config.ts'

/** The login token as a cookie, for browsers (login.token-works-as-cookie). */
export const loginCookie = (config: Config, token: string) =>
  cookie(config, token, limits.loginLifetimeDays * 24 * 60 * 60)

export const noCookie = (config: Config) => cookie(config, '', 0)

function cookie({ rootUrl }: Config, token: string, maxAgeSeconds: number) {
  const secure = rootUrl.startsWith('https:') ? '; Secure' : ''
  return `baton_session=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`
}
