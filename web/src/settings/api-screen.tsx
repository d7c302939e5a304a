import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Copyable } from '../ui/copy.tsx'
import { Input } from '../ui/field.tsx'
import { Page, Section } from '../ui/layout.tsx'
import { Pill, type Tone } from '../ui/pill.tsx'
import { Failed, Skeletons } from '../ui/states.tsx'
import { groupOperations, type OpenApi, type OperationSummary } from './openapi.ts'

/** API reference, from the OpenAPI document of this instance. */
export function ApiScreen() {
  const { data, error, refetch } = useQuery({
    queryKey: ['openapi'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const response = await fetch('/api/v1/openapi.json')
      if (!response.ok) throw new Error(`The service responded with ${response.status}.`)
      return response.json() as Promise<OpenApi>
    },
  })
  const [filter, setFilter] = useState('')
  return (
    <Page
      title="API"
      width="reading"
      actions={
        <Input
          aria-label="Find operation"
          placeholder="Find operation…"
          className="w-56 max-sm:w-36"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      }
    >
      <Section
        title="REST API and MCP"
        hint={
          <>
            The API offers everything that this app can do. Send your login token or an app token as{' '}
            <code className="font-mono text-xs">Authorization: Bearer</code> and the workspace as{' '}
            <code className="font-mono text-xs">X-Workspace-ID</code>. For guides, errors and the full reference, see
            the{' '}
            <a href="/docs" className="text-accent-ink underline underline-offset-2">
              documentation
            </a>
            .
          </>
        }
      >
        <div className="grid gap-2 sm:grid-cols-2">
          <Copyable label="API URL" text={`${location.origin}/api/v1`} />
          <Copyable label="MCP URL" text={`${location.origin}/mcp`} />
        </div>
      </Section>
      {data ? (
        <Operations description={data} filter={filter.trim().toLowerCase()} />
      ) : error ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeletons rows={14} />
      )}
    </Page>
  )
}

function Operations({ description, filter }: { description: OpenApi; filter: string }) {
  const groups = groupOperations(description)
    .map(({ name, operations }) => ({
      name,
      operations: operations.filter(({ method, path, summary }) =>
        `${method} ${path} ${summary}`.toLowerCase().includes(filter),
      ),
    }))
    .filter(({ operations }) => operations.length > 0)
  if (groups.length === 0) return <p className="text-ink-2">No operation matches “{filter}”.</p>
  return groups.map(({ name, operations }) => (
    <Section key={name} title={name}>
      <ul className="divide-y rounded-lg border bg-surface">
        {operations.map((operation) => (
          <Operation key={operation.id} operation={operation} />
        ))}
      </ul>
    </Section>
  ))
}

const tones: Record<string, Tone> = { GET: 'info', POST: 'ok', PUT: 'warn', PATCH: 'warn', DELETE: 'bad' }

/** Shows text between backticks as code. */
const InlineCode = ({ text }: { text: string }) =>
  text.split('`').map((part, at) =>
    at % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts are never reordered
      <code key={at} className="font-mono text-xs">
        {part}
      </code>
    ) : (
      part
    ),
  )

const Operation = ({
  operation: { method, path, summary, parameters, responses, caller },
}: {
  operation: OperationSummary
}) => (
  <li>
    <details>
      <summary className="flex list-none flex-wrap items-center gap-x-3 gap-y-0.5 px-3 py-2 hover:bg-hover">
        <Pill tone={tones[method] ?? 'neutral'} className="w-16 justify-center font-mono">
          {method}
        </Pill>
        <code className="font-mono text-xs wrap-anywhere">{path}</code>
        <span className="min-w-40 flex-1 truncate text-ink-2 max-sm:basis-full">
          <InlineCode text={summary} />
        </span>
      </summary>
      <div className="space-y-3 border-t bg-sunken px-4 py-3 text-xs">
        <p className="text-sm">
          <InlineCode text={summary} />.
        </p>
        {caller && (
          <p>
            <span className="text-ink-3">Callers:</span> {caller}
          </p>
        )}
        {parameters.length > 0 && (
          <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
            {parameters.map(({ name, where, type, required }) => (
              <div key={`${where} ${name}`} className="contents">
                <dt className="font-mono">
                  {name}
                  {required && <span className="text-accent-ink"> *</span>}
                </dt>
                <dd className="text-ink-2">
                  {where} · {type}
                </dd>
              </div>
            ))}
          </dl>
        )}
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
          {responses.map(({ status, description }) => (
            <div key={status} className="contents">
              <dt className="tabular font-mono">{status}</dt>
              <dd className="text-ink-2">{description}</dd>
            </div>
          ))}
        </dl>
      </div>
    </details>
  </li>
)
