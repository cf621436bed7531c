// Starts the parts of a page.

import { watchCharts } from "./pictures.js";
import { watchCopying } from "./copying.js";
import { watchFilter } from "./filter.js";
import { watchKeys } from "./keys.js";
import { watchLists } from "./lists.js";
import { watchState } from "./live.js";
import { watchTheme } from "./themes.js";

watchTheme();
watchState();
watchLists();
watchKeys();
watchCopying();
watchFilter();
watchCharts();
document.documentElement.dataset.ready = "";
