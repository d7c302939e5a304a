import { limits } from '@baton/protocol/limits'
import { scopeWords } from '@baton/protocol/scope-words'
import { Plus, X } from 'lucide-react'
import { Button, IconButton } from '../ui/button.tsx'
import { Checkbox, Field, Input, Textarea } from '../ui/field.tsx'
import { sentence } from '../ui/sentence.ts'
import type { Json } from './json.ts'
import { listenUrl, resourceTypes, textAt, textsAt, valueAt, withValue } from './manifest.ts'
import { scopeNames } from './scopes.ts'

interface Props {
  manifest: Json
  onChange: (manifest: Json) => void
  /** Error messages by dotted path. */
  errors: Record<string, string>
}

/** Keeps the fields of the manifest that it does not know. */
export function ManifestForm({ manifest, onChange, errors }: Props) {
  const text = (path: string) => ({
    value: textAt(manifest, path),
    onChange: (event: { target: { value: string } }) => onChange(withValue(manifest, path, event.target.value)),
  })
  /** An empty value removes the field. */
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
          hint={`${limits.appNameMin} to ${limits.name} characters, shown to members and used in mentions.`}
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
          hint="A square PNG, JPEG, WebP or GIF of up to 512 KB."
          error={errors.icon_url}
        >
          <Input {...optional('icon_url')} inputMode="url" placeholder="https://" />
        </Field>
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
          <Field label="Developer" error={errors['developer.name'] ?? errors.developer}>
            <Input {...text('developer.name')} />
          </Field>
          <Field label="Developer website" optional error={errors['developer.url']}>
            <Input {...optional('developer.url')} inputMode="url" placeholder="https://" />
          </Field>
        </div>
      </div>
      <RedirectUris manifest={manifest} onChange={onChange} errors={errors} />
      <CheckboxGroup
        legend="Scopes"
        path="oauth.scopes"
        names={scopeNames}
        descriptions={scopeWords}
        {...{ manifest, onChange, errors }}
      />
      <Field
        label="Install page"
        optional
        hint="The app's own page where managers install it, on the host of the website or of a redirect URI."
        error={errors.install_page_url}
      >
        <Input {...optional('install_page_url')} inputMode="url" placeholder="https://" />
      </Field>
      <WebhookFields manifest={manifest} onChange={onChange} errors={errors} />
    </div>
  )
}

function RedirectUris({ manifest, onChange, errors }: Props) {
  const path = 'oauth.redirect_uris'
  const uris = textsAt(manifest, path)
  const change = (next: string[]) => onChange(withValue(manifest, path, next))
  // An error of a single item is shown at that item.
  const [, item, problem] = /^Item (\d+) (.+)\.$/.exec(errors[path] ?? '') ?? []
  return (
    <fieldset className="space-y-2">
      <legend className="font-medium">Redirect URIs</legend>
      <p className="text-xs text-ink-3">Where the browser returns after consent: https, exact match.</p>
      {uris.map((uri, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the items have no other identity than their index
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
        Add redirect URI
      </Button>
    </fieldset>
  )
}

interface CheckboxGroupProps extends Props {
  legend: string
  hint?: string
  path: string
  names: readonly string[]
  descriptions?: Record<string, { short: string }>
}

function CheckboxGroup({ legend, hint, path, names, descriptions, manifest, onChange, errors }: CheckboxGroupProps) {
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
              {descriptions?.[name]?.short ?? name}{' '}
              {descriptions && <span className="font-mono text-xs text-ink-3">{name}</span>}
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
        label="Send events"
        hint="Required for delegation and mentions."
        checked={has}
        onChange={({ target }) =>
          onChange(withValue(manifest, 'webhook', target.checked ? { url: listenUrl, resource_types: [] } : undefined))
        }
      />
      {has && (
        <>
          <Field
            label="Webhook URL"
            hint={`A public https URL on port 443 or 8443. To receive on your own machine with the command baton listen, use ${listenUrl}`}
            error={errors['webhook.url'] ?? errors.webhook}
          >
            <Input
              value={textAt(manifest, 'webhook.url')}
              inputMode="url"
              onChange={({ target }) => onChange(withValue(manifest, 'webhook.url', target.value))}
            />
          </Field>
          <CheckboxGroup
            legend="Also send"
            hint="Delegated work, changes to its teams and its uninstallation are always sent."
            path="webhook.resource_types"
            names={resourceTypes}
            {...{ manifest, onChange, errors }}
          />
        </>
      )}
    </fieldset>
  )
}
