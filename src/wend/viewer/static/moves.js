// The codes of moves, as traces have them, and the states of agents.

export const WAIT = 0; // codes 1..8 are moves, clockwise, cardinals first: N E S W NE SE SW NW
export const ABSENT = 9;
export const DX = [0, 0, 1, 0, -1, 1, 1, -1, -1, 0]; // by code
export const DY = [0, -1, 0, 1, 0, -1, 1, 1, -1, 0];
export const NO_CELL = -(2 ** 31); // not -1: a trace that Wend did not make may lead an agent off the map, and back
export const NO_AGENT = -1;

export const MOVING = 0;
export const WAITING = 1;
export const HOME = 2;
export const GONE = 3;
export const STATE_NAMES = ["moving", "waiting", "at goal", "not on the map"];

/** What an agent on the map is doing, with `code` as its next move. One that is pushed off its goal is home until it
 * has left. */
export function stateOf(cell, goal, code) {
  if (cell === goal) return HOME;
  return code === WAIT || code === ABSENT ? WAITING : MOVING;
}

// What is special about an agent: flags that can be added up.
export const FOLLOWS = 1; // it follows another agent
export const PINNED = 2; // no other may push it
export const UNCONTROLLED = 4; // the program moves it, not the planner
