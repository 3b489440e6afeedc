// Form fields for parameters, as the server declares them: { name, value, kind, about, low, high, choices }.

import { element } from "./page.js";

/** A label with the input of a parameter. */
export function fieldFor(parameter, value = parameter.value) {
  const input = inputFor(parameter, value);
  input.name = parameter.name;
  const label = element("label", element("span", parameter.name.replaceAll("_", " ")), input);
  if (parameter.about) label.title = parameter.about;
  return label;
}

function inputFor({ kind, choices, low, high, value: preset }, value) {
  if (choices) return selectOf(choices.map((choice) => [choice, choice]), value);
  const input = element("input");
  if (kind === "bool" || typeof preset === "boolean") {
    input.type = "checkbox";
    input.checked = value;
    return input;
  }
  if (typeof preset === "number") {
    input.type = "number";
    input.step = kind === "int" || (kind === undefined && Number.isInteger(preset)) ? 1 : "any";
    if (low !== undefined && low !== null) input.min = low;
    if (high !== undefined && high !== null) input.max = high;
  }
  input.value = value ?? "";
  return input;
}

/** A select of pairs of value and words. */
export function selectOf(pairs, chosen) {
  const select = element("select");
  fillSelect(select, pairs, chosen);
  return select;
}

export function fillSelect(select, pairs, chosen) {
  const options = pairs.map(([value, words]) => {
    const option = element("option", words);
    option.value = value;
    return option;
  });
  select.replaceChildren(...options);
  select.value = chosen ?? "";
}

/** What the fields inside an element say, by name. */
export function readFields(box) {
  const read = (input) => {
    if (input.type === "checkbox") return input.checked;
    return input.type === "number" ? input.valueAsNumber : input.value;
  };
  return Object.fromEntries([...box.querySelectorAll("input, select")].map((input) => [input.name, read(input)]));
}
