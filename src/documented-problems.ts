import { type Problem, problems } from './problems.js';

/** When each problem is answered. */
const when: Record<Problem, string> = {
  body_not_json: 'The body is empty, not UTF-8 or not JSON.',
  plant_invalid: 'The body is JSON, but not a NewPlant; the message names what is wrong.',
  id_taken: 'A plant with this id exists.',
  plant_refused: 'The storage refused this plant; the message says why.',
  media_type_unsupported: 'The Content-Type is not application/json, or the body has a Content-Encoding.',
  body_too_large: 'The body is larger than this server accepts.',
  body_incomplete: 'The body stopped short of its end.',
  token_missing: 'There is no bearer token.',
  token_invalid: 'The bearer token is malformed, or was turned down.',
  scope_insufficient: 'The token is good, but not for creating plants.',
  not_found: 'This server answers another path.',
  method_not_allowed: 'This path answers POST alone.',
  internal_error: 'The server failed.',
  storage_failed: 'The storage failed; the plant may or may not exist.',
  verification_failed: 'The token could not be verified; it may well be good.',
  body_unreadable: 'The server lost the body before it could be read exactly.',
  busy: 'The storage has no room to queue more; nothing was stored.',
  timed_out: 'The storage did not answer in time; the plant may or may not exist.',
};

/** Every problem as the document has it: apart from `problems`, since nobody carries these to answer a request. */
export const documentedProblems = Object.entries(when).map(([name, when]) => ({
  name,
  when,
  error: problems[name as Problem][0],
}));
