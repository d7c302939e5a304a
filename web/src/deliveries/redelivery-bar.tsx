import { RotateCw, Square, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button, IconButton } from '../ui/button.tsx'
import { deliveryTitle } from './labels.tsx'
import type { Redelivery } from './redelivery.ts'

const Bar = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className="pointer-events-none sticky inset-x-2 bottom-3 z-20 flex justify-center px-2 pt-3">
    <div
      role="toolbar"
      aria-label={label}
      className="pointer-events-auto flex max-w-full items-center gap-2 rounded-lg bg-raised p-1 pl-3 shadow-pop"
    >
      {children}
    </div>
  </div>
)

/** Actions on the selected deliveries. */
export const DeliverySelectionBar = (props: { count: number; onRedeliver: () => void; onClear: () => void }) => (
  <Bar label={`${props.count} selected`}>
    <span aria-live="polite" className="tabular mr-2 font-medium whitespace-nowrap">
      {props.count} selected
    </span>
    <Button size="sm" look="primary" icon={RotateCw} command="deliveries.redeliver" onClick={props.onRedeliver}>
      Redeliver selected
    </Button>
    <IconButton label="Clear selection" icon={X} command="deliveries.clear" onClick={props.onClear} />
  </Bar>
)

/** Progress of redeliveries, and their result until it is dismissed. */
export function RedeliveryBar({ redelivery, onStop, onDismiss }: Props) {
  const { total, running, results } = redelivery
  if (running) {
    return (
      <Bar label="Redelivery">
        <progress
          aria-label="Redelivered"
          value={results.length}
          max={total}
          className="h-1.5 w-24 accent-(--accent)"
        />
        <span role="status" className="tabular font-medium whitespace-nowrap">
          Redelivering {results.length + 1} of {total}
        </span>
        <Button size="sm" icon={Square} onClick={onStop}>
          Stop
        </Button>
      </Bar>
    )
  }
  const failures = results.filter(({ ok }) => !ok)
  const stopped = results.length < total
  return (
    <Bar label="Redelivery">
      <div role="status" className="min-w-0 py-1">
        <p className="tabular font-medium">
          {stopped && 'Stopped. '}
          {results.length - failures.length} of {total} redelivered
          {failures.length > 0 && `, ${failures.length} failed`}
        </p>
        {failures.length > 0 && (
          <ul className="max-h-40 overflow-y-auto text-ink-2">
            {failures.map(({ delivery, text }) => (
              <li key={delivery.id}>
                <span className="font-medium text-ink">{deliveryTitle(delivery)}:</span> {text}
              </li>
            ))}
          </ul>
        )}
      </div>
      <IconButton label="Dismiss" icon={X} className="self-start" onClick={onDismiss} />
    </Bar>
  )
}

interface Props {
  redelivery: Redelivery
  onStop: () => void
  onDismiss: () => void
}
