import { limits } from '@baton/protocol/limits'
import { scopeWords } from '@baton/protocol/scope-words'
import { Plus, X } from 'lucide-react'
import { Button, IconButton } from '../ui/button.tsx'
import { Checkbox, Field, Input, Textarea } from '../ui/field.tsx'
import { sentence } from '../ui/sentence.ts'
import type { Json } from './json.ts'
import { listenUrl, resourceTypes, textAt, textsAt, valueAt, withValue } from './manifest.ts'
import { scopeNames } from './scope-words.ts'

interface Props {
  manifest: Json
  onChange: (manifest: Json) => void
  /** By dotted path, in sentences. */
  errors: Record<string, string>
}

/** Writes the manifest; what it does not know of stays as it is. */
export function ManifestForm({ manifest, onChange, errors }: Props) {
  const text = (path: string) => ({
    value: textAt(manifest, path),
    onChange: (event: { target: { value: string } }) => onChange(withValue(manifest, path, event.target.value)),
  })
  /** Left out rather than empty. */
  const optional = (path: string) => ({
    value: textAt(manifest, path),
    onChange: (event: { target: { value: string } }) =>
      onChange(withValue(manifest, path, event.target.value || undefined)),
  })
  return (
    <div className="space-y-5">
      <div className="space-y-3">
        <Field
          label="Name"
          hint={`What people see and mention: ${limits.appNameMin} to ${limits.name} characters.`}
          error={errors.name}
        >
          <Input {...text('name')} autoComplete="off" />
        </Field>
        <Field label="Description" optional error={errors.description}>
          <Textarea {...optional('description')} rows={2} />
        </Field>
        <Field
          label="Icon URL"
          optional
          hint="A square png, jpeg, webp or gif of 512 KB at most."
          error={errors.icon_url}
        >
          <Input {...optional('icon_url')} inputMode="url" placeholder="https://" />
        </Field>
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
          <Field label="Developer" error={errors['developer.name'] ?? errors.developer}>
            <Input {...text('developer.name')} />
          </Field>
          <Field label="Developer's website" optional error={errors['developer.url']}>
            <Input {...optional('developer.url')} inputMode="url" placeholder="https://" />
          </Field>
        </div>
      </div>
      <RedirectUris manifest={manifest} onChange={onChange} errors={errors} />
      <Ticks
        legend="What it may do"
        path="oauth.scopes"
        names={scopeNames}
        words={scopeWords}
        {...{ manifest, onChange, errors }}
      />
      <WebhookFields manifest={manifest} onChange={onChange} errors={errors} />
    </div>
  )
}

function RedirectUris({ manifest, onChange, errors }: Props) {
  const path = 'oauth.redirect_uris'
  const uris = textsAt(manifest, path)
  const change = (next: string[]) => onChange(withValue(manifest, path, next))
  // What is wrong with one of them stands beside it.
  const [, item, problem] = /^Item (\d+) (.+)\.$/.exec(errors[path] ?? '') ?? []
  return (
    <fieldset className="space-y-2">
      <legend className="font-medium">Redirect URIs</legend>
      <p className="text-xs text-ink-3">Where a browser returns to after a manager agreed: https, to the letter.</p>
      {uris.map((uri, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are told apart by their place alone
        <div key={index} className="flex items-end gap-1">
          <Field
            label={`Redirect URI ${index + 1}`}
            error={Number(item) === index + 1 ? sentence(problem) : undefined}
            className="flex-1"
          >
            <Input
              value={uri}
              inputMode="url"
              placeholder="https://"
              onChange={({ target }) => change(uris.map((one, at) => (at === index ? target.value : one)))}
            />
          </Field>
          {uris.length > 1 && (
            <IconButton
              label={`Remove redirect URI ${index + 1}`}
              icon={X}
              onClick={() => change(uris.filter((_, at) => at !== index))}
            />
          )}
        </div>
      ))}
      {errors[path] && !item && (
        <p role="alert" className="text-xs text-bad-ink">
          {errors[path]}
        </p>
      )}
      <Button size="sm" icon={Plus} onClick={() => change([...uris, ''])}>
        Add a redirect URI
      </Button>
    </fieldset>
  )
}

interface TickProps extends Props {
  legend: string
  hint?: string
  path: string
  names: readonly string[]
  words?: Record<string, { short: string }>
}

function Ticks({ legend, hint, path, names, words, manifest, onChange, errors }: TickProps) {
  const chosen = textsAt(manifest, path)
  const problems = Object.entries(errors).filter(([field]) => field === path || field.startsWith(`${path}.`))
  const toggle = (name: string, on: boolean) =>
    onChange(withValue(manifest, path, on ? [...chosen, name] : chosen.filter((one) => one !== name)))
  return (
    <fieldset className="space-y-1.5">
      <legend className="font-medium">{legend}</legend>
      {hint && <p className="text-xs text-ink-3">{hint}</p>}
      {names.map((name) => (
        <Checkbox
          key={name}
          label={
            <>
              {words?.[name]?.short ?? name} {words && <span className="font-mono text-xs text-ink-3">{name}</span>}
            </>
          }
          checked={chosen.includes(name)}
          onChange={({ target }) => toggle(name, target.checked)}
        />
      ))}
      {problems.map(([field, message]) => (
        <p key={field} role="alert" className="text-xs text-bad-ink">
          {message}
        </p>
      ))}
    </fieldset>
  )
}

function WebhookFields({ manifest, onChange, errors }: Props) {
  const has = valueAt(manifest, 'webhook') !== undefined
  return (
    <fieldset className="space-y-3">
      <legend className="font-medium">Webhook</legend>
      <Checkbox
        label="Tell the app when something happens"
        hint="Without it nobody can hand it an issue or mention it."
        checked={has}
        onChange={({ target }) =>
          onChange(withValue(manifest, 'webhook', target.checked ? { url: listenUrl, resource_types: [] } : undefined))
        }
      />
      {has && (
        <>
          <Field
            label="Webhook URL"
            hint={`A public https address on port 443 or 8443. To receive on your own machine with npx baton listen: ${listenUrl}`}
            error={errors['webhook.url'] ?? errors.webhook}
          >
            <Input
              value={textAt(manifest, 'webhook.url')}
              inputMode="url"
              onChange={({ target }) => onChange(withValue(manifest, 'webhook.url', target.value))}
            />
          </Field>
          <Ticks
            legend="Also tell it about"
            hint="Work that is handed to it, changes of its teams and its uninstallation always come."
            path="webhook.resource_types"
            names={resourceTypes}
            {...{ manifest, onChange, errors }}
          />
        </>
      )}
    </fieldset>
  )
}
