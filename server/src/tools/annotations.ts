import type { Tool } from './tool.ts'

/** MCP annotations, derived from the HTTP method. */
export function annotations({ name, operation }: Tool) {
  const { method } = operation.route
  return {
    title: (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' '),
    readOnlyHint: method === 'GET',
    // PUT, PATCH and DELETE overwrite or remove data.
    destructiveHint: method !== 'GET' && method !== 'POST',
    idempotentHint: method !== 'POST',
    openWorldHint: false,
  }
}
