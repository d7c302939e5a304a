import { limits } from '@baton/protocol'
import type { GuardedClient } from '../outbound/client.ts'
import { type Image, imageOf, isSquare } from './image.ts'

const headers = { accept: 'image/png, image/jpeg, image/webp, image/gif' }

export interface Icon {
  type: Image['type']
  bytes: Buffer
}

/** Null unless it is a small, square image of an accepted type. */
export async function fetchIcon(outbound: GuardedClient, url: string): Promise<Icon | null> {
  // The client cuts off longer bodies; one more byte distinguishes an icon that fits from one that was cut.
  const { status, body, whole } = await outbound.send({ method: 'GET', url, headers }, limits.iconBytes + 1)
  if (status !== 200 || !whole || body.length > limits.iconBytes) return null
  const image = imageOf(body)
  return image && isSquare(image) ? { type: image.type, bytes: body } : null
}
