import { expect, test } from 'vitest'
import { launchdPlist, systemdUnit } from './service-file.ts'

const options = {
  command: ['/usr/bin/node', '/opt/b a/baton.mjs', 'run', '--setup', 'echo "$HOME" 100%', '--', 'agent'],
  directory: '/home/ann/work',
  name: 'My agent',
  path: '/usr/bin',
}

test('the unit quotes what systemd would interpret', () => {
  const unit = systemdUnit(options)
  expect(unit).toContain(
    'ExecStart="/usr/bin/node" "/opt/b a/baton.mjs" "run" "--setup" "echo \\"$$HOME\\" 100%%" "--" "agent"\n',
  )
  expect(unit).toContain('TimeoutStopSec=35\n')
})

test('the property list escapes markup', () => {
  const plist = launchdPlist({ ...options, command: ['a', '<b> & c'] })
  expect(plist).toContain('<string>&lt;b> &amp; c</string>')
  expect(plist).toContain('<string>baton.run.My-agent</string>')
})
