import * as foreign from 'oauth4webapi'
import { describe, expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { askConsent, redirectUri, oauthScene as scene } from '../../test/oauth.ts'

describe('metadata', () => {
  test(
    'is served at the standard addresses',
    verifies(
      'oauth.metadata-authorization-server',
      'oauth.metadata-protected-resource',
      'oauth.metadata-protected-resource-mcp',
    ),
    async ({ app }) => {
      const { rootUrl, baseUrl, mcpUrl } = app.ctx.config
      const server = await app.anonymous.getRoot('/.well-known/oauth-authorization-server')
      expect(server).toMatchObject({ status: 200, body: { issuer: rootUrl, token_endpoint: `${baseUrl}/oauth/token` } })
      const resource = await app.anonymous.getRoot('/.well-known/oauth-protected-resource')
      expect(resource).toMatchObject({ status: 200, body: { authorization_servers: [rootUrl] } })
      const mcp = await app.anonymous.getRoot('/.well-known/oauth-protected-resource/mcp')
      expect(mcp).toMatchObject({ status: 200, body: { resource: mcpUrl } })
    },
  )
})

test(
  'a standard OAuth client library discovers, authorizes, exchanges, refreshes and revokes',
  verifies('oauth.token-basic-auth', 'oauth.refusal-parameters'),
  async ({ app }) => {
    const { owner, client } = await scene(app)
    const { rootUrl } = app.ctx.config
    // In tests the service listens on another port than its configured URL, so the client's requests are rewritten.
    const options = {
      [foreign.allowInsecureRequests]: true,
      [foreign.customFetch]: (url: string, init: object) =>
        fetch(url.replace(rootUrl, app.rootUrl), init as RequestInit),
    }
    const issuer = new URL(rootUrl)
    const server = await foreign.processDiscoveryResponse(
      issuer,
      await foreign.discoveryRequest(issuer, { algorithm: 'oauth2', ...options }),
    )
    for (const authentication of [
      foreign.ClientSecretBasic(client.client_secret),
      foreign.ClientSecretPost(client.client_secret),
    ]) {
      const verifier = foreign.generateRandomCodeVerifier()
      const state = foreign.generateRandomState()
      const id = await askConsent(owner, client.client_id, {
        code_challenge: await foreign.calculatePKCECodeChallenge(verifier),
        state,
      })
      const { body } = await owner.post(`/oauth/requests/${id}/approve`, { all_teams: true })
      const me = { client_id: client.client_id }
      const callback = foreign.validateAuthResponse(server, me, new URL(body.redirect_to), state)
      const first = await foreign.processAuthorizationCodeResponse(
        server,
        me,
        await foreign.authorizationCodeGrantRequest(
          server,
          me,
          authentication,
          callback,
          redirectUri,
          verifier,
          options,
        ),
      )
      const second = await foreign.processRefreshTokenResponse(
        server,
        me,
        await foreign.refreshTokenGrantRequest(server, me, authentication, first.refresh_token ?? '', options),
      )
      expect(second.access_token).toMatch(/^svc_at_/)
      const gone = await foreign.revocationRequest(server, me, authentication, second.refresh_token ?? '', options)
      await foreign.processRevocationResponse(gone)
      const refused = await foreign.refreshTokenGrantRequest(
        server,
        me,
        authentication,
        second.refresh_token ?? '',
        options,
      )
      await expect(foreign.processRefreshTokenResponse(server, me, refused)).rejects.toMatchObject({
        error: 'invalid_grant',
      })
    }
  },
)
