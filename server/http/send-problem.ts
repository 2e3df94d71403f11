import type { Response } from 'express';
import type { Problem } from '../problems/problem.ts';

export function sendProblem(response: Response, problem: Problem, publicUrl: string): void {
  const { requestId } = response.locals;
  response
    .status(problem.status)
    .set(problem.headers)
    .type('application/problem+json')
    .send(JSON.stringify(problem.body(requestId, publicUrl)));
}
