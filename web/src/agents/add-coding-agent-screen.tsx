import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { cliCommand } from '../data/cli.ts'
import { useMe } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { Block } from '../ui/copy.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { DocsLink } from '../ui/docs-link.tsx'
import { Page, Section } from '../ui/layout.tsx'
import { Notice } from '../ui/states.tsx'

interface CodingAgent {
  label: string
  /** Flags and command of `baton run`. */
  run: (request: string) => string
  hint: ReactNode
  /** A plain command cannot ask before a step. */
  isPlain?: true
}

const Code = ({ children }: { children: ReactNode }) => (
  <code className="font-mono text-xs wrap-anywhere">{children}</code>
)

// The name of an app is the file name of its command, so commands that npx starts need a name.
const agents: CodingAgent[] = [
  {
    label: 'OpenCode',
    run: (request) => `run${request} -- opencode acp`,
    hint: (
      <>
        Install OpenCode and sign in with <Code>opencode auth login</Code> first.
      </>
    ),
  },
  {
    label: 'Codex',
    run: (request) => `run${request} --name Codex --mode workspace-write -- npx @agentclientprotocol/codex-acp`,
    hint: (
      <>
        Sign in with <Code>codex login</Code> first. In the mode <Code>workspace-write</Code> it asks before it does
        more than edit files of the worktree.
      </>
    ),
  },
  {
    label: 'Gemini',
    run: (request) => `run${request} -- gemini --acp`,
    hint: (
      <>
        Install Gemini CLI, start <Code>gemini</Code> once and sign in.
      </>
    ),
  },
  {
    label: 'Claude',
    run: (request) => `run${request} --name Claude -- npx @agentclientprotocol/claude-agent-acp`,
    hint: (
      <>
        Sign in with <Code>claude</Code> first, or set <Code>ANTHROPIC_API_KEY</Code>.
      </>
    ),
  },
  {
    label: 'Another command',
    run: (request) => `run${request} --name Helper --plain -- COMMAND`,
    hint: (
      <>
        For a command that does not speak the Agent Client Protocol (ACP). It reads the prompt from stdin, or as an
        argument in place of <Code>{'{prompt}'}</Code>, and its output is the answer. Leave <Code>--plain</Code> out for
        another agent that speaks ACP.
      </>
    ),
    isPlain: true,
  },
]

/** How to make a command-line coding agent a teammate: one command. */
export function AddCodingAgentScreen() {
  const { isManager } = useMe()
  const [chosen, setChosen] = useState(agents[0] as CodingAgent)
  return (
    <Page
      width="reading"
      title={
        <Crumbs
          above={[
            <Link key="agents" to="/agents">
              Agents
            </Link>,
          ]}
        >
          Add a coding agent
        </Crumbs>
      }
    >
      <p>
        A coding agent on your machine becomes a teammate: delegate issues to it, follow its work and read its changes
        here. It works in your repository, each session in its own worktree and branch.
      </p>
      <Section title="Sign in" hint="Once per machine.">
        <Block label="sign-in command" text={cliCommand(`login --url ${location.origin}`)} />
      </Section>
      <Section title="Run it in your repository">
        <div role="group" aria-label="Coding agent" className="flex flex-wrap gap-1.5">
          {agents.map((agent) => (
            <Button
              key={agent.label}
              aria-pressed={agent === chosen}
              className="aria-pressed:border-accent aria-pressed:bg-accent-wash"
              onClick={() => setChosen(agent)}
            >
              {agent.label}
            </Button>
          ))}
        </div>
        <Block label="command" text={cliCommand(chosen.run(isManager ? '' : ' --request'))} />
        <p className="text-ink-2">{chosen.hint}</p>
        {!isManager && (
          <Notice tone="info" title="Ask an owner or admin">
            Only they can install agents. With <Code>--request</Code> the command asks them in their inbox and ends. One
            of them then installs the agent and sends you its tokens. Save them in a file and run the command with{' '}
            <Code>--tokens FILE</Code> instead of <Code>--request</Code>.
          </Notice>
        )}
      </Section>
      <Section title="What happens next">
        <div className="prose">
          <ol>
            <li>The first start installs the agent for all teams. Later starts need no login.</li>
            <li>
              While it runs, the agent is connected. Open an issue and press <Code>D</Code> to delegate it to the agent.
            </li>
            {chosen.isPlain ? (
              <li>You follow its output in the issue. A plain command asks for nothing: it has your rights.</li>
            ) : (
              <li>
                You follow its plan and steps in the issue. It asks before it runs commands, and you answer there.
              </li>
            )}
            <li>
              You read its changes in the session, comment on lines, and fetch or apply them. It pushes nothing unless
              you add <Code>--push origin</Code>.
            </li>
          </ol>
        </div>
      </Section>
      <Notice tone="warn" title="A worktree is no sandbox">
        The agent has the rights of the user who runs the command, and reads what members write in issues. Use a
        container for agents that ask nothing, and <Code>--people</Code> to limit who can give it work.
      </Notice>
      <p className="text-accent-ink">
        <DocsLink page="coding-agents">Guide: coding agents</DocsLink>
      </p>
    </Page>
  )
}
