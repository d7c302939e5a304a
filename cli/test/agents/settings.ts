/** Leads OpenCode to a scripted model. It asks before it runs a command. */
export function openCodeSettings(modelUrl: string): Record<string, string> {
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Scripted',
    options: { baseURL: modelUrl, apiKey: 'none' },
    models: { m: { name: 'M', cost: { input: 1, output: 2 } } },
  }
  const config = {
    model: 'scripted/m',
    small_model: 'scripted/m',
    autoupdate: false,
    share: 'disabled',
    permission: { bash: 'ask' },
    provider: { scripted: provider },
  }
  return { OPENCODE_CONFIG_CONTENT: JSON.stringify(config), OPENCODE_DISABLE_MODELS_FETCH: '1' }
}
