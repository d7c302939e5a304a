import { readFile } from 'node:fs/promises'
import type { AgentAppManifest } from '@baton/sdk'
import { Failure } from './failure.ts'
import { parseObject } from './files.ts'

/** Reads a manifest without validating it: the service does that, and names each bad field. */
export async function readManifest(path: string): Promise<AgentAppManifest> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Failure(`${path} cannot be read.`)
  })
  return parseObject(path, text) as AgentAppManifest
}
