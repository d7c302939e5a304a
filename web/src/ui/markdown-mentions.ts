import { userIdPattern } from '@baton/protocol/mentions'

interface Node {
  type: string
  value?: string
  url?: string
  children?: Node[]
  data?: Record<string, unknown>
}

/** The words inside, without their looks. */
const wordsOf = ({ value = '', children = [] }: Node): string => value + children.map(wordsOf).join('')

const isMention = (node: Node, before: Node | undefined) =>
  node.type === 'link' &&
  userIdPattern.test(node.url ?? '') &&
  before?.type === 'text' &&
  Boolean(before.value?.endsWith('@'))

/**
 * `@[Name](usr_…)` becomes a mention of that id. Who it is is looked up when it is shown; the name that was written only
 * stands there when nobody has that id.
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
        children: [{ type: 'text', value: `@${wordsOf(node)}` }],
      }
    } else {
      walk(node)
    }
  }
}
