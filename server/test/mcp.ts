import {
  type AuthProvider,
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import type { Client as HttpClient, RequestOptions } from './client.ts'
import type { TestApp, TestPerson } from './harness.ts'

/** The official client. It uses the configured address, so its requests are redirected to the port of the test. */
export function mcpTransport(
  app: TestApp,
  authProvider: AuthProvider | OAuthClientProvider,
  headers: Record<string, string> = {},
) {
  const { rootUrl, mcpUrl } = app.ctx.config
  return new StreamableHTTPClientTransport(new URL(mcpUrl), {
    authProvider,
    requestInit: { headers },
    fetch: (url, init) => fetch(String(url).replace(rootUrl, app.rootUrl), init),
  })
}

export const newMcpClient = (mode: VersionNegotiationMode = 'legacy') => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  onTestFinished(() => client.close())
  return client
}

/** A client connected with an existing token. */
export async function connectMcp(
  app: TestApp,
  token: string,
  headers: Record<string, string> = {},
  mode?: VersionNegotiationMode,
) {
  const client = newMcpClient(mode)
  await client.connect(mcpTransport(app, { token: async () => token }, headers))
  return client
}

/** A program that knows only the address of the service and gets its token by OAuth. */
export class Program implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:4000/callback'
  readonly clientMetadata = { client_name: 'Editor', redirect_uris: [this.redirectUrl] }
  /** The URL that the browser was sent to. */
  authorizationUrl: URL | undefined
  registered: OAuthClientInformationMixed | undefined
  stored: OAuthTokens | undefined
  #verifier = ''
  #discovered: OAuthDiscoveryState | undefined

  clientInformation = () => this.registered
  saveClientInformation(registered: OAuthClientInformationMixed) {
    this.registered = registered
  }
  tokens = () => this.stored
  saveTokens(tokens: OAuthTokens) {
    this.stored = tokens
  }
  redirectToAuthorization(url: URL) {
    this.authorizationUrl = url
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier
  }
  codeVerifier = () => this.#verifier
  saveDiscoveryState(discovered: OAuthDiscoveryState) {
    this.#discovered = discovered
  }
  discoveryState = () => this.#discovered

  /** Approves the request as the person in a browser, and returns the parameters of the redirect. */
  async agreed(person: TestPerson, workspaceId: string): Promise<URLSearchParams> {
    const asked = await person.get(`/oauth/authorize${this.authorizationUrl?.search}`)
    const request = new URL(asked.headers.get('location') ?? '').searchParams.get('request')
    const { body } = await person.post(`/oauth/requests/${request}/approve`, { workspace_id: workspaceId })
    return new URL(body.redirect_to).searchParams
  }
}

/** An app installed for one of two teams, with an issue in each; `bare` sends no workspace header. */
export async function mcpScene(app: TestApp, scopes = ['read', 'write']) {
  const workspace = await app.workspace()
  const { owner } = workspace
  const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  const other = (await owner.post('/teams', { name: 'Design', key: 'DES' })).body
  const issue = (await owner.post('/issues', { title: 'A bug', team_id: team.id })).body
  const outside = (await owner.post('/issues', { title: 'A colour', team_id: other.id })).body
  const robot = await app.installed(owner, { scopes, teamIds: [team.id] })
  const bare = app.anonymous.with({ authorization: `Bearer ${robot.token}` })
  return { ...workspace, team, other, issue, outside, robot, bare }
}

let ids = 0

/** Sends one message without an MCP client. */
export const rpc = (client: HttpClient, method: string, params?: object, options?: RequestOptions) =>
  client.postRoot('/mcp', { jsonrpc: '2.0', id: ++ids, method, ...(params ? { params } : {}) }, options)

/** Calls a tool and returns its result. */
export async function callTool(client: HttpClient, name: string, args: object = {}) {
  const { body } = await rpc(client, 'tools/call', { name, arguments: args })
  return body.result
}
