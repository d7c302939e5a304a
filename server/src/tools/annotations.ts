import type { Tool } from './tool.ts'

/** What a program that runs a model may want to know before it calls a tool, by what the HTTP method promises. */
export function annotations({ name, operation }: Tool) {
  const { method } = operation.route
  return {
    title: (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' '),
    readOnlyHint: method === 'GET',
    // Whatever is not only added to.
    destructiveHint: method !== 'GET' && method !== 'POST',
    idempotentHint: method !== 'POST',
    openWorldHint: false,
  }
}
