import { appScopes } from '@baton/protocol'
import type { Config } from '../config.ts'

/** RFC 8414. */
export const serverMetadata = ({ rootUrl, baseUrl }: Config) => ({
  issuer: rootUrl,
  authorization_endpoint: `${baseUrl}/oauth/authorize`,
  token_endpoint: `${baseUrl}/oauth/token`,
  revocation_endpoint: `${baseUrl}/oauth/revoke`,
  registration_endpoint: `${baseUrl}/oauth/register`,
  scopes_supported: appScopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
  revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
})

/** RFC 9728. */
export const resourceMetadata = ({ rootUrl }: Config, resource: string) => ({
  resource,
  authorization_servers: [rootUrl],
  scopes_supported: ['read', 'write'],
  bearer_methods_supported: ['header'],
})
