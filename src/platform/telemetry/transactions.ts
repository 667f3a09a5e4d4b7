/** Publishes the states that followed transactions reach, and the time until confirmation. */
import { channel } from 'node:diagnostics_channel'

export interface TransactionStep {
  /** The lifecycle state that was reached. */
  state: string
  /** Seconds from the submission to the confirmation; undefined for any other step. */
  confirmSeconds: number | undefined
}

const steps = channel('svc.transaction')

export const publishTransactionStep = (step: TransactionStep): void => steps.publish(step)

/** Receives every step until the returned function is called. */
export function onTransactionSteps(act: (step: TransactionStep) => void): () => void {
  const listener = (message: unknown) => act(message as TransactionStep)
  steps.subscribe(listener)
  return () => steps.unsubscribe(listener)
}
