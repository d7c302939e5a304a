import { homedir } from 'node:os'

interface ServiceOptions {
  /** The command to run: program and arguments. */
  command: readonly string[]
  directory: string
  name: string
  path: string
}

/** A unit for systemd, for `~/.config/systemd/user`. */
export function systemdUnit({ command, directory, name, path }: ServiceOptions): string {
  const word = (text: string) =>
    `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$').replaceAll('\n', '\\n')}"`
  return `[Unit]
Description=Baton runner ${oneLine(name).replaceAll('%', '%%')}
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=${command.map(word).join(' ')}
WorkingDirectory=${oneLine(directory).replaceAll('%', '%%')}
Environment=${word(`PATH=${path}`)}
Restart=on-failure
RestartSec=10
# A replaced runner (exit code 1) must not take the app back.
RestartPreventExitStatus=1 2
KillMode=mixed
TimeoutStopSec=35

[Install]
WantedBy=default.target
`
}

/** A property list for launchd, for `~/Library/LaunchAgents`. */
export function launchdPlist({ command, directory, name, path }: ServiceOptions): string {
  const text = (value: string) => `<string>${value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</string>`
  const log = `${homedir()}/Library/Logs/baton-${fileName(name)}.log`
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${text(`baton.run.${fileName(name)}`)}
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    ${text(word)}`).join('\n')}
  </array>
  <key>WorkingDirectory</key>${text(directory)}
  <key>EnvironmentVariables</key><dict><key>PATH</key>${text(path)}</dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>Crashed</key><true/></dict>
  <key>ExitTimeOut</key><integer>35</integer>
  <key>StandardErrorPath</key>${text(log)}
</dict>
</plist>
`
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ')
const fileName = (text: string) => text.replace(/[^\w.-]+/g, '-')
