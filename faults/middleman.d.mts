export class Middleman {
  static start(target: string): Promise<Middleman>
  urlOf(target: string): string
  cut(): void
  refuse(refusing: boolean): void
  silence(options?: { also?: boolean }): void
  hearAgain(): void
  stop(): void
}
