import { Field, Select } from '../ui/field.tsx'

/** How long the old secret keeps working after a rotation. Zero hours: it stops at once. */
export const OverlapField = ({ hours, onChange }: { hours: number; onChange: (hours: number) => void }) => (
  <Field
    label="Old secret"
    hint={
      hours === 0
        ? 'It stops working at once, also for retries: the receiver rejects deliveries until it has the new one.'
        : 'Until then Svc-Signature is made with the old secret, and webhook-signature with both.'
    }
  >
    <Select value={hours} onChange={({ target }) => onChange(Number(target.value))}>
      <option value={0}>Stops at once</option>
      <option value={1}>Works for 1 hour</option>
      <option value={24}>Works for 24 hours</option>
      <option value={168}>Works for 7 days</option>
    </Select>
  </Field>
)

/** Preselected: a receiver that is changed within a day misses nothing. */
export const usualOverlapHours = 24

/** The body of a rotation. */
export const rotationOf = (hours: number) => (hours === 0 ? {} : { overlap_hours: hours })
