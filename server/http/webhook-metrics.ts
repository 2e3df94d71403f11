/** Webhook metrics: attempts, their durations, and the backlog. */
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Backlog } from '../webhooks/backlog.ts';
import type { SendResult } from '../outgoing/send.ts';

export type WebhookMetrics = ReturnType<typeof webhookMetrics>;

const bucketsSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

export function webhookMetrics(register: Registry) {
  const registers = [register];
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Webhook requests: delivered, rejected by the receiver, or without a response.',
    labelNames: ['outcome'],
    registers,
  });
  const durations = new Histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Time from the request to the response of the receiver.',
    buckets: bucketsSeconds,
    registers,
  });
  return {
    attempted({ status, durationMs }: SendResult, isDelivered: boolean): void {
      const outcome = status === null ? 'no response' : 'rejected';
      attempts.inc({ outcome: isDelivered ? 'delivered' : outcome });
      durations.observe(durationMs / 1000);
    },
    measure(read: () => Backlog): void {
      // The maximum, because each worker sees the same database.
      const gauge = (name: string, help: string, value: () => number) =>
        new Gauge({
          name,
          help,
          aggregator: 'max',
          registers,
          collect() {
            this.set(value());
          },
        });
      gauge('webhook_events_pending', 'Events that wait for an attempt.', () => read().pending);
      gauge('webhook_lag_seconds', 'How long the most overdue endpoint has been waiting.', () => read().lagSeconds);
      gauge('webhook_endpoints_failing', 'Active endpoints whose last attempts failed.', () => read().failingEndpoints);
    },
  };
}
