import { useQuery } from '@tanstack/react-query'
import { automationsQuery } from '../data/automations.ts'

/** ", automation Name" after the name of its owner. */
export default function ByAutomation({ id }: { id: string }) {
  const name = useQuery(automationsQuery).data?.find((one) => one.id === id)?.name
  return (
    <span className="font-normal text-ink-3">
      {name ? (
        <>
          , automation <bdi>{name}</bdi>
        </>
      ) : (
        ', a deleted automation'
      )}
    </span>
  )
}
