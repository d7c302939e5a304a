import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { filledDataDir } from './empty-databases.ts'
import { ServiceProcess } from './service-process.ts'

const root = new URL('../../', import.meta.url)
const hasCurl = spawnSync('curl', ['--version']).status === 0 && spawnSync('bash', ['--version']).status === 0

/** The blocks of a page that are marked `sh run`. Each first prints its file and line. */
function runnable(path: string): string[] {
  const text = readFileSync(new URL(path, root), 'utf8')
  return [...text.matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map(({ 1: block, index }) => {
    const line = text.slice(0, index).split('\n').length
    return `echo '▸ ${path}:${line}'\n${block}`
  })
}

/** api.md comes early: it sets the variables that the other guides use. */
const pages = ['README.md', 'docs/guides/api.md']
for (const file of readdirSync(new URL('docs/guides/', root))) {
  if (file !== 'api.md') pages.push(`docs/guides/${file}`)
}

test.skipIf(!hasCurl)(
  'the commands in README and guides work as described',
  async () => {
    const blocks = pages.flatMap(runnable)
    expect(blocks.length).toBeGreaterThan(5)
    const dir = await filledDataDir()
    const service = await ServiceProcess.start({ BATON_DATA_DIR: dir, BATON_DEMO: '1' })
    const script = ['set -euo pipefail', ...blocks].join('\n').replaceAll('http://localhost:3000', service.url)
    const ran = await promisify(execFile)('bash', ['-c', script]).catch((error) => error)
    await service.kill('SIGTERM')
    rmSync(dir, { recursive: true, force: true })

    expect(ran.code, `${ran.stdout}\n${ran.stderr}`).toBeUndefined()
    expect(ran.stdout).toContain('"title":"Fix the door"')
    expect(ran.stdout).toContain('"code":"VALIDATION_ERROR"')
    expect(ran.stdout).toMatch(/link: <http:\S+\/docs\/errors#UNAUTHORIZED>; rel="help"/i)
    expect(ran.stdout).toMatch(/^pwhsec_/m)
  },
  120_000,
)
