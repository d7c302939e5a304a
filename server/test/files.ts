import type { Client } from './client.ts'
import type { TestApp } from './harness.ts'

export { png, redPixel } from './pictures.ts'

export interface Place {
  target_type?: 'issue' | 'project'
  target_id?: string
}

export const upload = (client: Client, raw: Uint8Array | string, name = 'a.png', place: Place = {}) =>
  client.post(`/files?${new URLSearchParams({ name, ...place } as Record<string, string>)}`, undefined, { raw })

/** The answer with its bytes. */
export async function content(app: TestApp, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${app.rootUrl}${path}`, { headers })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

/** With the login and the workspace of a person or app. */
export const contentAs = (
  app: TestApp,
  { token, workspaceId }: { token: string; workspaceId: string },
  id: string,
  headers: Record<string, string> = {},
) =>
  content(app, `/api/v1/files/${id}/content`, {
    authorization: `Bearer ${token}`,
    'x-workspace-id': workspaceId,
    ...headers,
  })

/** Keys in the storage. */
export async function storedKeys({ ctx }: TestApp): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of ctx.storage?.list('files/') ?? []) keys.push(key)
  return keys.sort()
}
