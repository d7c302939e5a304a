import { userIdPattern } from '@baton/protocol/mentions'

interface Node {
  type: string
  value?: string
  url?: string
  children?: Node[]
  data?: Record<string, unknown>
}

/** The text of a node without formatting. */
const textOf = ({ value = '', children = [] }: Node): string => value + children.map(textOf).join('')

const isMention = (node: Node, before: Node | undefined) =>
  node.type === 'link' &&
  userIdPattern.test(node.url ?? '') &&
  before?.type === 'text' &&
  Boolean(before.value?.endsWith('@'))

/**
 * Turns `@[Name](usr_…)` into a mention of that id. The current name is looked up when it is rendered; the written name is
 * shown only if the id is unknown.
 */
export const mentions = () => (tree: Node) => walk(tree)

function walk(parent: Node) {
  const children = parent.children ?? []
  for (const [index, node] of children.entries()) {
    const before = children[index - 1]
    if (isMention(node, before) && before?.value) {
      before.value = before.value.slice(0, -1)
      children[index] = {
        type: 'mention',
        data: { hName: 'span', hProperties: { dataMention: node.url } },
        children: [{ type: 'text', value: `@${textOf(node)}` }],
      }
    } else {
      walk(node)
    }
  }
}
