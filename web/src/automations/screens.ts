export { AutomationScreen, NewAutomationScreen } from './automation-screen.tsx'
export { AutomationsScreen } from './automations-screen.tsx'
