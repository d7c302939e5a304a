import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../conformance/requirements.ts'
import { debianProgram } from '../../scripts/debian.mjs'
import { exampleSecrets, unknownSettings } from './settings.ts'

const unit = readFileSync(fileURLToPath(new URL('../systemd/baton.service', import.meta.url)), 'utf8')
const analyze = await debianProgram('systemd-analyze', 'systemd')
const withSystemd = test.skipIf(!analyze && !process.env.CI)

/** Runs systemd-analyze on a unit, with /opt/baton in a folder where the program exists. */
function analyzed(text: string, ...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-systemd-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const program = join(folder, 'node_modules', '.bin', 'baton-server')
  mkdirSync(dirname(program), { recursive: true })
  writeFileSync(program, '', { mode: 0o755 })
  const file = join(folder, 'baton.service')
  writeFileSync(file, text.replaceAll('/opt/baton', folder))
  const { status, stdout, stderr } = spawnSync(analyze ?? '', [...args, file], { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

/** `threshold` is ten times the highest permitted exposure. */
const exposed = (text: string, threshold: number) =>
  analyzed(text, 'security', '--offline=yes', '--no-pager', `--threshold=${threshold}`)

withSystemd('systemd finds nothing to say about the unit', verifies('deploy.systemd-verifies'), () => {
  expect(analyzed(unit, 'verify')).toEqual({ status: 0, output: '' })
  expect(analyzed(unit.replace('ProtectClock', 'ProtectClok'), 'verify').output).toContain("Unknown key 'ProtectClok'")
})

withSystemd('its exposure is at most 2.0', verifies('deploy.systemd-verifies'), () => {
  const { status, output } = exposed(unit, 20)
  expect(status, output).toBe(0)
  expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(output)?.[1])).toBeLessThanOrEqual(2)
  // Without the filter of system calls it is above.
  expect(exposed(unit.replaceAll(/^SystemCallFilter=.*$/gm, ''), 20).status).not.toBe(0)
})

test('the unit has settings that Baton knows, and takes the key from a credential', () => {
  const settings = [...unit.matchAll(/^Environment=([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [name, value])
  expect(settings).toContainEqual(['BATON_SECRET_KEY_FILE', '%d/secret-key'])
  expect(unknownSettings(Object.fromEntries(settings), exampleSecrets)).toEqual([])
  expect(unit).toContain('LoadCredential=secret-key:/etc/baton/secret-key')
})
