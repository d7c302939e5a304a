import type { Client } from './client.ts'
import type { TestApp, TestPerson } from './harness.ts'
import { allScopes } from './oauth.ts'
import type { Receiver } from './receiver.ts'

export const linearRedirect = 'https://localhost/cb'

export const linearManifest = (change: object = {}) => ({
  schemaVersion: '1.0.0',
  name: 'Robot',
  developer: { name: 'Robots Inc' },
  oauth: { redirect_uris: [linearRedirect], scopes: allScopes },
  compat: 'linear',
  ...change,
})

let apps = 0

/** Registers a compat app. */
export async function registerLinearApp(owner: TestPerson, change: object = {}) {
  const { body } = await owner.post('/agent-apps', linearManifest({ name: `Linear robot ${++apps}`, ...change }))
  return body as {
    app: { id: string; name: string; compat: string | null }
    client_id: string
    client_secret: string
    webhook_secret: string
  }
}

export const linearForm = (app: TestApp, path: 'token' | 'revoke', form: Record<string, string>, headers = {}) =>
  app.anonymous.postRoot(`/linear/oauth/${path}`, undefined, {
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

export const linearAuthorize = (person: Client, clientId: string, change: Record<string, string> = {}) =>
  person.getRoot(
    `/linear/oauth/authorize?${new URLSearchParams({
      client_id: clientId,
      redirect_uri: linearRedirect,
      response_type: 'code',
      ...change,
    })}`,
  )

/** Approves as a manager; returns the code. */
export async function linearConsent(
  owner: TestPerson,
  clientId: string,
  decision: object = { all_teams: true },
  change: Record<string, string> = {},
) {
  const { headers } = await linearAuthorize(owner, clientId, change)
  const id = new URL(headers.get('location') ?? '').searchParams.get('request')
  const { body } = await owner.post(`/oauth/requests/${id}/approve`, decision)
  return new URL(body.redirect_to).searchParams.get('code') ?? ''
}

/** An installed compat app with a token of Linear's API. */
export async function installedLinearApp(
  app: TestApp,
  owner: TestPerson,
  {
    scopes = allScopes,
    teamIds = null as string[] | null,
    receiver = null as Receiver | null,
    resourceTypes = [] as string[],
  } = {},
) {
  const client = await registerLinearApp(owner, {
    oauth: { redirect_uris: [linearRedirect], scopes },
    ...(receiver ? { webhook: { url: receiver.url, resource_types: resourceTypes } } : {}),
  })
  const coverage = teamIds ? { team_ids: teamIds } : { all_teams: true }
  const code = await linearConsent(owner, client.client_id, coverage, { scope: scopes.join(',') })
  const secrets = { client_id: client.client_id, client_secret: client.client_secret }
  const form = { grant_type: 'authorization_code', code, redirect_uri: linearRedirect, ...secrets }
  const { body: tokens } = await linearForm(app, 'token', form)
  const token: string = tokens.access_token
  const linear = app.anonymous.with({ authorization: token })
  const query = (text: string, variables?: object) => linear.postRoot('/linear/graphql', { query: text, variables })
  /** The data of an answer without errors. */
  const data = async (text: string, variables?: object) => {
    const { status, body } = await query(text, variables)
    if (status !== 200 || body.errors) throw new Error(`answered ${status}: ${JSON.stringify(body.errors)}`)
    return body.data
  }
  const { viewer } = await data('{viewer{id}}')
  return { ...client, secrets, tokens, token, linear, query, data, viewerId: viewer.id as string }
}

export type LinearApp = Awaited<ReturnType<typeof installedLinearApp>>

export const codeOf = ({ body }: { body: { errors?: { extensions: { baton: { code: string } } }[] } }) =>
  body.errors?.[0]?.extensions.baton.code

export const typeOf = ({ body }: { body: { errors?: { extensions: { type: string } }[] } }) =>
  body.errors?.[0]?.extensions.type
