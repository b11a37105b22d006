"""The tables of `ptx.lark`. Built by tools/build_grammar.py; not written by hand."""


# Terminal or literal -> its kind, one character.
KINDS = {
'VERSION': 'I', 'TARGET': 'J', 'ADDRESS_SIZE': 'K', 'FILE': 'L', 'LOC': 'M', 'LOC_INTERMEDIATE': 'N',
'PRAGMA': 'O', 'ALIAS': 'P', 'SECTION': 'Q', 'ENTRY': 'R', 'FUNC': 'S', 'CALLPROTOTYPE': 'T',
'TARGETS': 'U', 'ENTRY_FLAG': 'V', 'ENTRY_NUMBER': 'W', 'ENTRY_EXTENT': 'X', 'FUNC_FLAG': 'Y',
'FUNC_NUMBER': 'Z', 'LANGUAGE': 'a', 'LINKAGE': 'b', 'SPACE': 'c', 'TYPE': 'd', 'VECTOR': 'e', 'ALIGN': 'f',
'PTR': 'g', 'ATTRIBUTE': 'h', 'SINGLE': 'i', 'FLOAT': 'j', 'INTEGER': 'k', 'STRING': 'l', 'WARP_SZ': 'm',
'CALL': 'n', 'GENERIC': 'o', 'FUNCTION_NAME': 'p', 'SINK': 'q', 'INLINED_AT': 'r', 'QUALIFIED': 's',
'DOTTED': 't', 'NAME': 'u', 'WORD': 'v', '!=': 'A', '&&': 'B', '<<': 'C', '<=': 'D', '==': 'E', '>=': 'F',
'>>': 'G', '||': 'H', '!': '!', '%': '%', '&': '&', '(': '(', ')': ')', '*': '*', '+': '+', ',': ',',
'-': '-', '/': '/', ':': ':', ';': ';', '<': '<', '=': '=', '>': '>', '?': '?', '@': '@', '[': '[',
']': ']', '^': '^', '{': '{', '|': '|', '}': '}', '~': '~'}

# Word -> kind, for what `PATTERNS` takes for a NAME or a WORD.
KEYWORDS = {
'.version': 'I', '.target': 'J', '.address_size': 'K', '.file': 'L', '.loc': 'M', '.loc_intermediate': 'N',
'.pragma': 'O', '.alias': 'P', '.section': 'Q', '.entry': 'R', '.func': 'S', '.callprototype': 'T',
'.branchtargets': 'U', '.calltargets': 'U', '.explicitcluster': 'V', '.blocksareclusters': 'V',
'.maxnreg': 'W', '.minnctapersm': 'W', '.maxnctapersm': 'W', '.maxclusterrank': 'W',
'.minperctamemory': 'W', '.maxntid': 'X', '.reqntid': 'X', '.reqnctapercluster': 'X', '.noreturn': 'Y',
'.abi_preserve': 'Z', '.abi_preserve_control': 'Z', '.language': 'a', '.extern': 'b', '.visible': 'b',
'.weak': 'b', '.common': 'b', '.reg': 'c', '.const': 'c', '.global': 'c', '.local': 'c', '.param': 'c',
'.shared': 'c', '.tex': 'c', '.b8': 'd', '.b16': 'd', '.b32': 'd', '.b64': 'd', '.b128': 'd', '.s8': 'd',
'.s16': 'd', '.s32': 'd', '.s64': 'd', '.u8': 'd', '.u16': 'd', '.u32': 'd', '.u64': 'd', '.f16': 'd',
'.f16x2': 'd', '.f32': 'd', '.f64': 'd', '.bf16': 'd', '.bf16x2': 'd', '.tf32': 'd', '.s16x2': 'd',
'.u16x2': 'd', '.pred': 'd', '.texref': 'd', '.samplerref': 'd', '.surfref': 'd', '.v2': 'e', '.v4': 'e',
'.v8': 'e', '.align': 'f', '.ptr': 'g', '.attribute': 'h', 'WARP_SZ': 'm', 'generic': 'o',
'function_name': 'p', '_': 'q', 'inlined_at': 'r'}

# Terminal -> regular expression, in the order in which they are tried; literals come after.
PATTERNS = {'SINGLE': '0[fF][\\da-fA-F]{8}(?![\\w$.])',
 'FLOAT': '(?:(?:\\d+\\.\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?|\\d+[eE][+-]?\\d+|0[dD][\\da-fA-F]{16})(?![\\w$.])',
 'INTEGER': '(?:0[xX][\\da-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\\d*)U?(?![\\w$.])',
 'STRING': '"[^"\n]*"|"[^"\n;]*\n[^"]*"',
 'CALL': 'call(?:\\.[\\w$]+(?:::[\\w$]+)*)*(?![\\w$])',
 'QUALIFIED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)\\.[\\w$]+(?![\\w$.]|::)',
 'DOTTED': '(?:[A-Za-z][\\w$]*|[_$%][\\w$]+)(?:\\.[\\w$]+(?:::\\d+:\\d+|::[\\w$]+)*)+',
 'NAME': '[A-Za-z][\\w$]*|[_$%][\\w$]+|_',
 'WORD': '\\.[\\w$]+(?:::\\d+:\\d+|::[\\w$]+)*'}
LITERALS = ('!=', '&&', '<<', '<=', '==', '>=', '>>', '||', '!', '%', '&', '(', ')', '*', '+', ',', '-', '/', ':', ';',
 '<', '=', '>', '?', '@', '[', ']', '^', '{', '|', '}', '~')

# A rule a line: its name, and of each alternative the method (`-` if spliced, `?` if a lone
# child stands for it) and the length. Alternatives are numbered from the first line on.
RULES = """\
___opcode_star_14 -:2 -:1
__address_star_16 -:3 -:3 -:2 -:2
__attributes_star_9 -:3 -:2
__declarator_star_10 -:2 -:1
__entry_directive_star_6 -:3 -:2
__function_header_star_2 -:2 -:1
__function_header_star_3 -:2 -:1
__initializer_star_11 -:3 -:2
__instruction_star_13 -:3 -:2
__parameter_star_5 -:2 -:1
__parameters_star_4 -:3 -:2
__pragma_star_1 -:3 -:2
__section_line_star_12 -:3 -:2
__statement_star_7 -:3 -:2
__target_star_0 -:3 -:2
__variable_star_8 -:3 -:2
__vector_star_15 -:3 -:2
_index -:1 -:1
_inlined -:8
_modifier -:1 -:1 -:1 -:1 -:1
_name -:1 -:1 -:1 -:1
_opcode -:2 -:1 -:2 -:1 -:2 -:1
_section_type -:1 -:1
_specifier -:1 -:1 -:1 -:1
address address:5 address:4 address:4 address:3
alignment alignment:2
arguments arguments:4 arguments:3 arguments:2
attribute attribute:6 attribute:1
attributes attributes:5 attributes:4
base base?:1 base?:1 offset:3 offset:3
bit_and bit_and?:1 binary:3
bit_or bit_or?:1 binary:3
bit_xor bit_xor?:1 binary:3
body body:3
call call:11 call:9 call:9 call:7 call:9 call:7 call:7 call:5 call:10 call:8 call:8 call:6 call:8 call:6 call:6 call:4 call:10 call:8 call:8 call:6 call:8 call:6 call:6 call:4 call:9 call:7 call:7 call:5 call:7 call:5 call:5 call:3
close close:1
conditional conditional?:1 conditional:5
constant constant?:1 constant?:1
count count:3 count:3
debug_name name:1 name:1
debug_symbol debug_symbol?:1 binary:3
declarator declarator:4 declarator:2 declarator:5 declarator:3 declarator:6 declarator:4 declarator:5 declarator:3 declarator:4 declarator:2 declarator:5 declarator:3 declarator:4 declarator:2 declarator:3 declarator:1
dimension dimension:3 dimension:3
element element?:1 field:3
end end:1
entry_directive entry_directive?:1 directive:6 directive:4 directive:2 directive:1 directive:2 directive:3 directive:2
equality equality?:1 binary:3 binary:3
expression expression?:1
func_directive directive:1 directive:2 directive:3 directive:2
function function:2 function:2
function_header function_header:3 function_header:4 function_header:3 function_header:2 function_header:3 function_header:4 function_header:3 function_header:2 function_header:4 function_header:5 function_header:4 function_header:3 function_header:5 function_header:6 function_header:5 function_header:4 function_header:4 function_header:5 function_header:4 function_header:3 function_header:4 function_header:5 function_header:4 function_header:3 function_header:4 function_header:5 function_header:4 function_header:3 function_header:5 function_header:6 function_header:5 function_header:4 function_header:6 function_header:7 function_header:6 function_header:5 function_header:5 function_header:6 function_header:5 function_header:4
generic generic:4
guard guard:2 guard:3
initial_value initial_value?:1 initial_value?:1 initial_value?:1 binary:3 binary:3 mask:4
initializer initializer?:1 vector:4 vector:3 vector:2
instruction instruction:4 instruction:3 instruction:2 instruction:5 instruction:4 instruction:3
item item?:1 item?:1 item?:1 item?:1 item?:1 directive:2 directive:5 directive:7 directive:5 directive:3 directive:2 linked_variable:2
items items:2 items:0
label label:2
label_name name:1
language language?:1 language?:1
logical_and logical_and?:1 binary:3
logical_or logical_or?:1 binary:3
masked masked?:1 masked?:1 masked?:1 binary:3 binary:3
module module:1
name name:2 name:1 name:1
open open:1
operand operand?:1 operand?:1 operand?:1 element:4 pair:3 pair:3
parameter parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:6 parameter:6 parameter:5 parameter:5 parameter:5 parameter:4 parameter:3 parameter:3 parameter:2 parameter:4 parameter:4 parameter:3 parameter:5 parameter:5 parameter:4 parameter:4 parameter:4 parameter:3
parameters parameters:4 parameters:3 parameters:2
plain_name name:1
pointer pointer:2 pointer:3 pointer:2 pointer:1
pragma directive:4 directive:3
primary float:1 integer:1 name:1 parenthesized:3
product product?:1 binary:3 binary:3 binary:3
relation relation?:1 binary:3 binary:3 binary:3 binary:3
section section:3
section_header section_header:3
section_integer integer:1 unary:2
section_line section_line?:1 difference:4 directive:2 directive:3 directive:2
section_lines section_lines:2 section_lines:0
section_literal integer:1
shift shift?:1 binary:3 binary:3
single float:1 parenthesized:3
statement statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 statement?:1 call_prototype:5 call_prototype:6 call_prototype:5 call_prototype:4 call_prototype:4 call_prototype:5 call_prototype:4 call_prototype:3 directive:5 directive:4 directive:4 directive:4 directive:3 inner_prototype:4 inner_prototype:5 inner_prototype:4 inner_prototype:3 inner_prototype:5 inner_prototype:6 inner_prototype:5 inner_prototype:4 inner_prototype:5 inner_prototype:6 inner_prototype:5 inner_prototype:4 inner_prototype:6 inner_prototype:7 inner_prototype:6 inner_prototype:5
statements statements:2 statements:0
sum sum?:1 binary:3 binary:3
target directive:3 directive:2
target_label target_label:2 target_label:1
unary unary?:1 cast:4 unary:2 unary:2 unary:2 unary:2
unsized unsized:2
value value?:1 value?:1 binary:3 unary:2 unary:2
variable variable:5 variable:4 variable:3 variable:4 variable:3 variable:2
vector vector:4 vector:3"""

# States, a full stop between two: kinds, and for each the next state, or -1 - the rule to
# reduce; then rules, each with the next state.
STATES = """\
$KPfhRLSbOQcJdeI -238  items:1 module:2.$KPfhRLSbOQcJdeI -252 3 4 5 6 7 8 9 10 11 12 13 14 15 16 \
17  __parameter_star_5:18 _specifier:19 alignment:20 attributes:21 function:22 function_header:23 item:24 \
pragma:25 section:26 section_header:27 target:28 variable:29..k 30.nouq 31 32 33 34  _name:35.k 36.( 37.nouq \
31 32 33 34  _name:38.k 39.hno(uq 6 31 32 40 33 34  _name:41 attributes:42 parameters:43.fhRScde 5 6 44 45 \
13 15 16  __parameter_star_5:18 _specifier:19 alignment:20 attributes:21 variable:46.l 47.v 48.fhcde \
-59.nouq 31 32 33 34  _name:49.nou;q 31 32 33 50 34  _name:51 declarator:52.fhcde -60.j 53.fhcde 5 6 13 54 \
16  _specifier:55 alignment:20 attributes:21.fhcde -22.fhcde -57.fhcde -58.$KPfhRLSbOQcJdeI -225.{; 56 \
57  body:58 end:59 open:60.$KPfhRLSbOQcJdeI -237.$KPfhRLSbOQcJdeI -226.$KPfhRLSbOQcJdeI -227.nou}qdv \
-320  section_lines:61.$KPfhRLSbOQcJdeI -228.$KPfhRLSbOQcJdeI -229.$KPfhRLSbOQcJdeI \
-230.$KPf@hnT:,tRXVW=LSYZoa{<bMN([-u+Os})]Q;qcJUd|eIv -45.$KPf@hnT:,tRXVW=LSYZoa{<bMN([-u+Os})]Q;qcJUd|eIv \
-46.$KPf@hnT:,tRXVW=LSYZoa{<bMN([-u+Os})]Q;qcJUd|eIv -47.$KPf@hnT:,tRXVW=LSYZoa{<bMN([-u+Os})]Q;qcJUd|eIv \
-48., 62.fhnougqcde -65.v 63  attribute:64.XVWa{(O; 65 66 67 68 -169 40 11 -169  __function_header_star_2:69 \
entry_directive:70 parameters:71 pragma:72.l 73.fh)cde 5 6 74 13 75 16  __parameter_star_5:76 _specifier:19 \
alignment:20 attributes:21 parameter:77.YZa{(; 78 79 80 -173 40 -173  __function_header_star_3:81 \
func_directive:82 parameters:83.no(uq 31 32 40 33 34  _name:84 parameters:85.nouq 31 32 33 34  _name:86.nouq \
31 32 33 34  _name:87.hno(uq 6 31 32 40 33 34  _name:88 attributes:89 parameters:90.$KPfhRLSbOQcJdeI -236.,; \
91 92  __pragma_star_1:93.{ 94.$KPf@hnT,tRLSo{bMNuOs}QqcJUdeI -369 -369 -369 -369 -369 -369 -369 -369 95 \
-369 -369 -369 -369 -369 -369 -369 -369 -369 -369 -369 -369 -369 -369 -369 -369 -369 -369 -369 -369 \
-369  __target_star_0:96.$KPf@hnTtRLSo{bMNuOs}QqcJUdeI -389.,=<[; -142 97 98 99 \
-142  __declarator_star_10:100 count:101 dimension:102 unsized:103.,; 104 \
105  __variable_star_8:106.$KPfhRLSbOQcJdeI -235.nou;q 31 32 33 107 34  _name:51 declarator:108.fhcde \
-21.f@hnTtSo{bMNuOs}qcJUde -256.$KPfhRLSbOQcJdeI -147.$KPfhRLSbOQcJdeI -164.$KPfhRLSbOQcJdeI \
-165.f@hnTtSo{bMNuOs}qcJUde -364  statements:109.nou}qdv 31 32 33 110 34 111 112  _name:113 \
_section_type:114 close:115 label:116 section_line:117.nouq 31 32 33 34  _name:118.,() -70 119 -70.,) 120 \
121  __attributes_star_9:122.k 123.XVWa{O; -152.k 124.kl 125 126  language:127.XVWa{O; 65 66 67 68 -166 11 \
-166  entry_directive:128 pragma:72.XVWa{O; -14.XVWa{O; 65 66 67 68 -168 11 \
-168  __function_header_star_2:129 entry_directive:70 pragma:72.XVWa{O; -148.$KPfh,RLSbOQcJdeI -234 -234 \
-234 -234 -234 130 -234 -234 -234 -234 -234 -234 -234 -234 -234 -234 -234.nXVWYZoa{uO;q -289.fnougq 5 31 32 \
33 131 34  _name:132 alignment:133 pointer:134.fhcde 5 6 13 135 16  _specifier:55 alignment:20 \
attributes:21.,) 136 137  __parameters_star_4:138.YZa{; -160.k 139.kl 125 126  language:140.YZa{; 78 79 80 \
-170 -170  func_directive:141.YZa{; -16.YZa{; 78 79 80 -172 -172  __function_header_star_3:142 \
func_directive:82.YZa{(; 78 79 80 -177 40 -177  __function_header_star_3:143 func_directive:82 \
parameters:144.nouq 31 32 33 34  _name:145.YZa{(; 78 79 80 -185 40 -185  __function_header_star_3:146 \
func_directive:82 parameters:147.XVWa{(O; 65 66 67 68 -189 40 11 -189  __function_header_star_2:148 \
entry_directive:70 parameters:149 pragma:72.YZa{(; 78 79 80 -193 40 -193  __function_header_star_3:150 \
func_directive:82 parameters:151.no(uq 31 32 40 33 34  _name:152 parameters:153.nouq 31 32 33 \
34  _name:154.l 155.$KPf@hnTtRXVWLSoa{bMNuOs}Q;qcJUdeI -296.,; 156 157.nou}qdv -311.nouq 31 32 33 \
34  _name:158.$KPf@hnT,tRLSo{bMNuOs}QqcJUdeI -368 -368 -368 -368 -368 -368 -368 -368 159 -368 -368 -368 -368 \
-368 -368 -368 -368 -368 -368 -368 -368 -368 -368 -368 -368 -368 -368 -368 -368 -368.!njok{(-u+siq~m 160 31 \
161 162 163 164 165 166 33 167 168 169 34 170 171  _name:172 bit_and:173 bit_or:174 bit_xor:175 \
conditional:176 constant:177 equality:178 expression:179 generic:180 initial_value:181 initializer:182 \
logical_and:183 logical_or:184 name:185 primary:186 product:187 relation:188 shift:189 single:190 sum:191 \
unary:192.km 193 194.k]m 195 196 197.,=[; -128 198 199 -128  dimension:200.,=[; -136 201 99 \
-136  __declarator_star_10:202 dimension:102 unsized:203.,=[; -10.,=[; -140 204 199 \
-140  __declarator_star_10:205 dimension:102.nouq 31 32 33 34  _name:51 \
declarator:206.$KPf@hnTtRLSo{bMNuOs}QqcJUdeI -388.,; 207 208.$KPf@hnTtRLSo{bMNuOs}QqcJUdeI -386.,; 104 \
209  __variable_star_8:210.f@hnTtSo{bMNuOs}qcJUde 5 211 6 212 213 214 215 32 56 216 217 218 219 11 220 110 \
34 13 14 221 15 16  __parameter_star_5:18 _name:113 _opcode:222 _specifier:19 alignment:20 attributes:21 \
body:223 call:224 close:225 guard:226 instruction:227 label:228 open:60 pragma:229 statement:230 target:231 \
variable:232.$KPf@hnTtRLSo{bMNuOs}QqcJUdeI -116.nok-uqv -55.nok-uqv -56.: 233.nok-uqv 31 32 234 235 33 34 \
236  _name:237 debug_name:238 debug_symbol:239 label_name:240 section_integer:241.$KPfhRLSbOQcJdeI \
-310.nou}qdv -314.nou}qdv -319.; 242.k 243.v 63  attribute:244.fhno(uqcde -72.,) 245 246.,XVWa{O; 247 -151 \
-151 -151 -151 -151 -151 -151.XVWa{O; -153.,XVWYZa{O; -241.,XVWYZa{O; -242.,XVWa{O; 248 -155 -155 -155 -155 \
-155 -155 -155  __entry_directive_star_6:249.XVWa{O; -13.XVWa{O; 65 66 67 68 -167 11 \
-167  entry_directive:128 pragma:72.k 250.fnouqc 5 -294 -294 -294 -294 251  alignment:252.,[) -277 99 \
-277  dimension:253 unsized:254.nougq 31 32 33 131 34  _name:255 pointer:256.nouq 31 32 33 \
34  _name:257.fnougq 5 31 32 33 131 34  _name:258 alignment:259 pointer:260.fhcde 5 6 13 75 \
16  __parameter_star_5:76 _specifier:19 alignment:20 attributes:21 parameter:261.nXVWYZoa{uO;q -288.,) 262 \
263.YZa{; -161.,YZa{; 248 -163 -163 -163 -163 -163  __entry_directive_star_6:264.YZa{; -15.YZa{; 78 79 80 \
-171 -171  func_directive:141.YZa{; 78 79 80 -174 -174  func_directive:141.YZa{; 78 79 80 -176 \
-176  __function_header_star_3:265 func_directive:82.YZa{(; 78 79 80 -181 40 \
-181  __function_header_star_3:266 func_directive:82 parameters:267.YZa{; 78 79 80 -182 \
-182  func_directive:141.YZa{; 78 79 80 -184 -184  __function_header_star_3:268 func_directive:82.XVWa{O; 65 \
66 67 68 -186 11 -186  entry_directive:128 pragma:72.XVWa{O; 65 66 67 68 -188 11 \
-188  __function_header_star_2:269 entry_directive:70 pragma:72.YZa{; 78 79 80 -190 \
-190  func_directive:141.YZa{; 78 79 80 -192 -192  __function_header_star_3:270 func_directive:82.YZa{(; 78 \
79 80 -197 40 -197  __function_header_star_3:271 func_directive:82 parameters:272.nouq 31 32 33 \
34  _name:273.YZa{(; 78 79 80 -205 40 -205  __function_header_star_3:274 func_directive:82 parameters:275.,; \
-26.l 276.$KPf@hnTtRXVWLSoa{bMNuOs}Q;qcJUdeI -295.$KPf@hnT,tRLSo{bMNuOs}QqcJUdeI -32.nouq 31 32 33 \
34  _name:277.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 unary:280.&^:,<->%+?})];/*|HBEADFCG \
-297.,=(+});v -46 -46 281 -46 -46 -46 -46 -46.&^,<(->%+?};/*|HBEADFCG -298 -298 -298 -298 282 -298 -298 -298 \
-298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298 -298.!njok{(-u+s}iq~m 160 31 161 162 \
163 164 165 166 33 167 168 283 169 34 170 171  _name:172 bit_and:173 bit_or:174 bit_xor:175 conditional:176 \
constant:177 element:284 equality:178 expression:179 generic:180 initial_value:181 initializer:285 \
logical_and:183 logical_or:184 name:286 primary:186 product:187 relation:188 shift:189 single:190 sum:191 \
unary:192.!jk(-+i~dm 160 161 278 165 166 167 169 170 287 171  bit_and:173 bit_or:174 bit_xor:175 \
conditional:176 equality:178 expression:288 logical_and:183 logical_or:184 primary:186 product:187 \
relation:188 shift:189 single:289 sum:191 unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 \
unary:290.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 unary:291.,=[+})];| -255.,}); -325.!jk(-+~m \
160 161 278 279 166 167 170 171  primary:186 unary:292.&^:,<->%+?})];/*|HBEADFCG -299.,=[+})];|v -254 -254 \
-254 -254 -254 -254 -254 -254 -254 293.&^:,?})];|HB 294 -81 -81 -81 -81 -81 -81 -81 -81 -81 -81 \
-81.:,?})];|HB -243 -243 -243 -243 -243 -243 -243 295 -243 -243.^:,?})];|HB 296 -79 -79 -79 -79 -79 -79 -79 \
-79 -79 -79.:,})]; -159.,}; -209.&^:,?})];|HBEA -77 -77 -77 -77 -77 -77 -77 -77 -77 -77 -77 -77 297 298.,}); \
-119.,+}; -210 299 -210 -210.,}; -215.,; -141.:,?})];HB -245 -245 -245 -245 -245 -245 -245 -245 300.:,?})];H \
-117 -117 301 -117 -117 -117 -117 302.,+}; -211 303 -211 -211.&^:,<->%+?})];/*|HBEADFCG \
-372.&^:,<->%+?})];/*|HBEADFCG -365 -365 -365 -365 -365 -365 -365 304 -365 -365 -365 -365 -365 -365 305 306 \
-365 -365 -365 -365 -365 -365 -365 -365 -365.&^:,<>?})];|HBEADF -156 -156 -156 -156 307 308 -156 -156 -156 \
-156 -156 -156 -156 -156 -156 -156 309 310.&^:,<>?})];|HBEADFCG -305 -305 -305 -305 -305 -305 -305 -305 -305 \
-305 -305 -305 -305 -305 -305 -305 -305 -305 311 312.,}); -120.&^:,<->+?})];|HBEADFCG -322 -322 -322 -322 \
-322 313 -322 314 -322 -322 -322 -322 -322 -322 -322 -322 -322 -322 -322 -322 -322 \
-322.&^:,<->%+?})];/*|HBEADFCG -301.> 315.> 316.] 317.,=[); -378.] 318.!njok{(-u+siq~m 160 31 161 162 163 \
164 165 166 33 167 168 169 34 170 171  _name:172 bit_and:173 bit_or:174 bit_xor:175 conditional:176 \
constant:177 equality:178 expression:179 generic:180 initial_value:181 initializer:319 logical_and:183 \
logical_or:184 name:185 primary:186 product:187 relation:188 shift:189 single:190 sum:191 unary:192.km 195 \
197.,=[; -9.!njok{(-u+siq~m 160 31 161 162 163 164 165 166 33 167 168 169 34 170 171  _name:172 bit_and:173 \
bit_or:174 bit_xor:175 conditional:176 constant:177 equality:178 expression:179 generic:180 \
initial_value:181 initializer:320 logical_and:183 logical_or:184 name:185 primary:186 product:187 \
relation:188 shift:189 single:190 sum:191 unary:192.,=[; -130 321 199 -130  dimension:200.,=[; -134 322 199 \
-134  __declarator_star_10:323 dimension:102.!njok{(-u+siq~m 160 31 161 162 163 164 165 166 33 167 168 169 \
34 170 171  _name:172 bit_and:173 bit_or:174 bit_xor:175 conditional:176 constant:177 equality:178 \
expression:179 generic:180 initial_value:181 initializer:324 logical_and:183 logical_or:184 name:185 \
primary:186 product:187 relation:188 shift:189 single:190 sum:191 unary:192.,=[; -138 325 199 \
-138  dimension:200.,; -34.nouq 31 32 33 34  _name:51 declarator:326.$KPf@hnTtRLSo{bMNuOs}QqcJUdeI \
-387.$KPf@hnTtRLSo{bMNuOs}QqcJUdeI -385.,; 207 327.!nouq 328 31 32 33 34  _name:329.n:ob(usqcdev 31 -45 32 \
330 331 33 168 34 332 333 334 335  ___opcode_star_14:336 _modifier:337 _name:172 arguments:338 name:339.(q \
40 340  parameters:341.!njok{b([-u+s;iqc~demv -50 -50 -50 -50 -50 -50 330 -50 -50 -50 -50 -50 -50 -50 -50 \
-50 332 -50 333 334 -50 335  ___opcode_star_14:342 _modifier:337.no(uq 31 32 40 33 34  _name:343 \
parameters:344.S 345.k 346.k 347.!n:jok{b([-u+s;iqc~demv -52 -52 -47 -52 -52 -52 -52 330 -52 -52 -52 -52 -52 \
-52 -52 -52 -52 332 -52 333 334 -52 335  ___opcode_star_14:348 _modifier:337.!njok{b([-u+s;iqc~demv -54 -54 \
-54 -54 -54 -54 330 -54 -54 -54 -54 -54 -54 -54 -54 -54 332 -54 333 334 -54 335  ___opcode_star_14:349 \
_modifier:337.nouq 31 32 33 34  _name:350 target_label:351.!njok{([-u+s;iq~m 352 31 161 32 278 353 165 354 \
355 33 167 168 356 169 34 170 171  _name:172 address:357 bit_and:173 bit_or:174 bit_xor:175 conditional:176 \
constant:358 equality:178 expression:179 logical_and:183 logical_or:184 name:359 operand:360 primary:186 \
product:187 relation:188 shift:189 single:190 sum:191 unary:192 value:361 vector:362.f@hnTtSo{bMNuOs}qcJUde \
-327.f@hnTtSo{bMNuOs}qcJUde -328.$KPf@hnTtRLSo{bMNuOs}QqcJUdeI -83.ntus 363 214 364 \
220  _opcode:365.f@hnTtSo{bMNuOs}qcJUde -329.f@hnTtSo{bMNuOs}qcJUde -330.f@hnTtSo{bMNuOs}qcJUde \
-331.f@hnTtSo{bMNuOs}qcJUde -363.f@hnTtSo{bMNuOs}qcJUde -332.f@hnTtSo{bMNuOs}qcJUde \
-333.f@hnTtSo{bMNuOs}qcJUdev -239.n,ou}qdv -312.k 366  section_literal:367.n,ou+}qdv -124.no-u+}qdv -123 \
-123 -240 -123 -123 -123 -123 -123 -123.n,ou+}qdv -125 -125 -125 -125 368 -125 -125 -125 -125.nou}qdv -316.- \
369.n,ou}qdv -318 370 -318 -318 -318 -318 -318 -318  __section_line_star_12:371.$KPfhRLSbOQcJdeI -231., \
372.,) -8.v 63  attribute:373.fhno(uqcde -71.k 374.kl 125 126  language:375.,XVWa{O; 376 -154 -154 -154 -154 \
-154 -154 -154.$KPfh,RLSbOQcJdeI -233 -233 -233 -233 -233 377 -233 -233 -233 -233 -233 -233 -233 -233 -233 \
-233 -233.fnouq 5 -293 -293 -293 -293  alignment:378.nouq -291.,) -275.,) -276.,[) -280 99 \
-280  dimension:379 unsized:380.nouq 31 32 33 34  _name:381.,[) -286 99 -286  dimension:382 unsized:383.,[) \
-265 99 -265  dimension:384 unsized:385.nougq 31 32 33 131 34  _name:386 pointer:387.nouq 31 32 33 \
34  _name:388.,) -24.fhcde 5 6 13 75 16  __parameter_star_5:76 _specifier:19 alignment:20 attributes:21 \
parameter:389.nXVWYZoa{uO;q -287.,YZa{; 376 -162 -162 -162 -162 -162.YZa{; 78 79 80 -175 \
-175  func_directive:141.YZa{; 78 79 80 -178 -178  func_directive:141.YZa{; 78 79 80 -180 \
-180  __function_header_star_3:390 func_directive:82.YZa{; 78 79 80 -183 -183  func_directive:141.XVWa{O; 65 \
66 67 68 -187 11 -187  entry_directive:128 pragma:72.YZa{; 78 79 80 -191 -191  func_directive:141.YZa{; 78 \
79 80 -194 -194  func_directive:141.YZa{; 78 79 80 -196 -196  __function_header_star_3:391 \
func_directive:82.YZa{(; 78 79 80 -201 40 -201  __function_header_star_3:392 func_directive:82 \
parameters:393.YZa{; 78 79 80 -202 -202  func_directive:141.YZa{; 78 79 80 -204 \
-204  __function_header_star_3:394 func_directive:82.,; -25.$KPf@hnT,tRLSo{bMNuOs}QqcJUdeI \
-31.&^:,<->%+?})];/*|HBEADFCG -298.!jk(-+~dm 160 161 278 279 166 167 170 287 171  bit_and:173 bit_or:174 \
bit_xor:175 conditional:176 equality:178 expression:288 logical_and:183 logical_or:184 primary:186 \
product:187 relation:188 shift:189 sum:191 unary:192.&^:,<->%+?})];/*|HBEADFCG -374.nousq 31 32 33 168 \
34  _name:172 name:395.!njok(-u+sq~m 160 31 161 162 278 279 166 33 167 168 34 170 171  _name:172 bit_and:173 \
bit_or:174 bit_xor:175 conditional:176 equality:178 expression:396 generic:397 logical_and:183 \
logical_or:184 masked:398 name:399 primary:186 product:187 relation:188 shift:189 sum:191 unary:192.,}; \
-218.,} 400 401  __initializer_star_11:402.,} -145.,=+} -211 403 303 -211.) 404.) 405.) \
406.&^:,<->%+?})];/*|HBEADFCG -375.&^:,<->%+?})];/*|HBEADFCG -376.&^:,<->%+?})];/*|HBEADFCG -377.,=[+})];| \
-253.!jk(-+~m 160 161 278 279 166 167 170 171  equality:407 primary:186 product:187 relation:188 shift:189 \
sum:191 unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  bit_and:173 bit_xor:408 equality:178 primary:186 \
product:187 relation:188 shift:189 sum:191 unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  bit_and:409 \
equality:178 primary:186 product:187 relation:188 shift:189 sum:191 unary:192.!jk(-+~m 160 161 278 279 166 \
167 170 171  primary:186 product:187 relation:410 shift:189 sum:191 unary:192.!jk(-+~m 160 161 278 279 166 \
167 170 171  primary:186 product:187 relation:411 shift:189 sum:191 unary:192.!jk(-+~m 160 161 278 279 166 \
167 170 171  bit_and:173 bit_or:174 bit_xor:175 conditional:176 equality:178 expression:412 logical_and:183 \
logical_or:184 primary:186 product:187 relation:188 shift:189 sum:191 unary:192.!jk(-+~m 160 161 278 279 166 \
167 170 171  bit_and:173 bit_or:413 bit_xor:175 equality:178 primary:186 product:187 relation:188 shift:189 \
sum:191 unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  bit_and:173 bit_or:174 bit_xor:175 \
conditional:176 equality:178 expression:414 logical_and:183 logical_or:184 primary:186 product:187 \
relation:188 shift:189 sum:191 unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  bit_and:173 bit_or:174 \
bit_xor:175 equality:178 logical_and:415 primary:186 product:187 relation:188 shift:189 sum:191 \
unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  bit_and:173 bit_or:174 bit_xor:175 conditional:176 \
equality:178 expression:416 logical_and:183 logical_or:184 primary:186 product:187 relation:188 shift:189 \
sum:191 unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 unary:417.!jk(-+~m 160 161 278 279 \
166 167 170 171  primary:186 unary:418.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 \
unary:419.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 product:187 shift:420 sum:191 \
unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 product:187 shift:421 sum:191 \
unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 product:187 shift:422 sum:191 \
unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 product:187 shift:423 sum:191 \
unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 product:187 sum:424 unary:192.!jk(-+~m 160 \
161 278 279 166 167 170 171  primary:186 product:187 sum:425 unary:192.!jk(-+~m 160 161 278 279 166 167 170 \
171  primary:186 product:426 unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 product:427 \
unary:192.,=[; -121.,=[; -122.,=[); -143.,=[); -144.,; -127.,; -135.!njok{(-u+siq~m 160 31 161 162 163 164 \
165 166 33 167 168 169 34 170 171  _name:172 bit_and:173 bit_or:174 bit_xor:175 conditional:176 constant:177 \
equality:178 expression:179 generic:180 initial_value:181 initializer:428 logical_and:183 logical_or:184 \
name:185 primary:186 product:187 relation:188 shift:189 single:190 sum:191 unary:192.!njok{(-u+siq~m 160 31 \
161 162 163 164 165 166 33 167 168 169 34 170 171  _name:172 bit_and:173 bit_or:174 bit_xor:175 \
conditional:176 constant:177 equality:178 expression:179 generic:180 initial_value:181 initializer:429 \
logical_and:183 logical_or:184 name:185 primary:186 product:187 relation:188 shift:189 single:190 sum:191 \
unary:192.,=[; -132 430 199 -132  dimension:200.,; -139.!njok{(-u+siq~m 160 31 161 162 163 164 165 166 33 \
167 168 169 34 170 171  _name:172 bit_and:173 bit_or:174 bit_xor:175 conditional:176 constant:177 \
equality:178 expression:179 generic:180 initial_value:181 initializer:431 logical_and:183 logical_or:184 \
name:185 primary:186 product:187 relation:188 shift:189 single:190 sum:191 unary:192.,; \
-33.$KPf@hnTtRLSo{bMNuOs}QqcJUdeI -384.nouq 31 32 33 34  _name:432.ntus -207.!njok{b([-u+s;iqc~demv \
-40.!njok{([-u+s)iq~m 352 31 161 32 278 353 165 354 355 33 167 168 433 169 34 170 171  _name:172 address:357 \
bit_and:173 bit_or:174 bit_xor:175 conditional:176 constant:358 equality:178 expression:179 logical_and:183 \
logical_or:184 name:359 operand:434 primary:186 product:187 relation:188 shift:189 single:190 sum:191 \
unary:192 value:361 vector:362.!njok{b([-u+s;iqc~demv -41.!njok{b([-u+s;iqc~demv -42.!njok{b([-u+s;iqc~demv \
-43.!njok{b([-u+s;iqc~demv -44.nob(usqcdev 31 32 330 331 33 168 34 332 333 334 335  _modifier:435 _name:172 \
arguments:436 name:437.!njok{b([-u+s;iqc~demv -2., 438.,; 439 440.YZa(; 78 79 80 40 \
441  __function_header_star_3:442 func_directive:82 parameters:443.q 444.!njok{b([-u+s;iqc~demv -49 -49 -49 \
-49 -49 -49 330 -49 -49 -49 -49 -49 -49 -49 -49 -49 332 -49 333 334 -49 335  _modifier:435.YZa(; 78 79 80 40 \
445  __function_header_star_3:446 func_directive:82 parameters:447.nouq 31 32 33 34  _name:448.no(uq 31 32 \
40 33 34  _name:449 parameters:450.k 451.k 452.!njok{b([-u+s;iqc~demv -51 -51 -51 -51 -51 -51 330 -51 -51 \
-51 -51 -51 -51 -51 -51 -51 332 -51 333 334 -51 335  _modifier:435.!njok{b([-u+s;iqc~demv -53 -53 -53 -53 \
-53 -53 330 -53 -53 -53 -53 -53 -53 -53 -53 -53 332 -53 333 334 -53 335  _modifier:435.,<; -371 98 \
-371  count:453.,; 454 455  __statement_star_7:456.!njok(-u+sq~m 160 31 161 32 278 279 166 33 167 168 34 170 \
171  _name:172 name:457 primary:186 unary:280.!njok(-u+siq~m 352 31 161 32 278 165 355 33 167 168 169 34 170 \
171  _name:172 bit_and:173 bit_or:174 bit_xor:175 conditional:176 constant:358 equality:178 expression:179 \
logical_and:183 logical_or:184 name:458 primary:186 product:187 relation:188 shift:189 single:190 sum:191 \
unary:192 value:459.!njok(-u+q~m 160 31 161 32 278 279 166 33 167 34 170 171  _name:460 base:461 bit_and:173 \
bit_or:174 bit_xor:175 conditional:176 equality:178 expression:462 logical_and:183 logical_or:184 \
plain_name:463 primary:186 product:187 relation:188 shift:189 sum:191 unary:192.!njok(-u+sq~m 160 31 161 32 \
278 279 166 33 167 168 34 170 171  _name:172 name:464 primary:186 unary:290.f@hnTtSo{bMNuOs}qcJUde -221.,); \
-257.,}); -379.,[+);| -380 465 466 -380 -380 467.,; 468 469  __instruction_star_13:470.,); -258.,);| -259 \
-259 -259 471.nob(usqcdev 31 32 330 331 33 168 34 332 333 334 335  ___opcode_star_14:472 _modifier:337 \
_name:172 arguments:473 name:474.!njok{b([-u+s;iqc~demv -52 -52 -52 -52 -52 -52 330 -52 -52 -52 -52 -52 -52 \
-52 -52 -52 332 -52 333 334 -52 335  ___opcode_star_14:348 _modifier:337.!njok{([-u+s;iq~m 352 31 161 32 278 \
353 165 354 355 33 167 168 475 169 34 170 171  _name:172 address:357 bit_and:173 bit_or:174 bit_xor:175 \
conditional:176 constant:358 equality:178 expression:179 logical_and:183 logical_or:184 name:359 operand:476 \
primary:186 product:187 relation:188 shift:189 single:190 sum:191 unary:192 value:361 vector:362.n,ou}qdv \
-321.n,ou}qdv -313.k- 234 235  section_integer:477.nouq 31 32 33 34  _name:478 label_name:479.k- 234 \
235  section_integer:480.n,ou}qdv -317 481 -317 -317 -317 -317 -317 -317.k 482.,) -7.,XVWa{O; 483 -150 -150 \
-150 -150 -150 -150 -150.,XVWYZa{O; -12.kl 125 126  language:484.k 485.nouq -292.,) -278.,) -279.,[) -283 99 \
-283  dimension:486 unsized:487.,) -284.,) -285.,) -263.,) -264.,[) -268 99 -268  dimension:488 \
unsized:489.nouq 31 32 33 34  _name:490.,[) -274 99 -274  dimension:491 unsized:492.,) -23.YZa{; 78 79 80 \
-179 -179  func_directive:141.YZa{; 78 79 80 -195 -195  func_directive:141.YZa{; 78 79 80 -198 \
-198  func_directive:141.YZa{; 78 79 80 -200 -200  __function_header_star_3:493 func_directive:82.YZa{; 78 \
79 80 -203 -203  func_directive:141.) 494.) -247.+) 495 -248.) 496.+) 497 -249.!njok{(-u+siq~m 160 31 161 \
162 163 164 165 166 33 167 168 169 34 170 171  _name:172 bit_and:173 bit_or:174 bit_xor:175 conditional:176 \
constant:177 element:498 equality:178 expression:179 generic:180 initial_value:181 initializer:285 \
logical_and:183 logical_or:184 name:286 primary:186 product:187 relation:188 shift:189 single:190 sum:191 \
unary:192.,}; -217.,} 499 500.!njok(-u+siq~m 160 31 161 162 163 165 166 33 167 168 169 34 170 171  _name:172 \
bit_and:173 bit_or:174 bit_xor:175 conditional:176 constant:177 equality:178 expression:179 generic:180 \
initial_value:501 logical_and:183 logical_or:184 name:185 primary:186 product:187 relation:188 shift:189 \
single:190 sum:191 unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  primary:186 \
unary:502.&^:,<->%+?})];/*|HBEADFCG -300.,}); -326.&^:,?})];|HBEA -78 -78 -78 -78 -78 -78 -78 -78 -78 -78 \
-78 -78 297 298.^:,?})];|HB 296 -80 -80 -80 -80 -80 -80 -80 -80 -80 -80.&^:,?})];|HB 294 -82 -82 -82 -82 -82 \
-82 -82 -82 -82 -82 -82.&^:,<>?})];|HBEADF -157 -157 -157 -157 307 308 -157 -157 -157 -157 -157 -157 -157 \
-157 -157 -157 309 310.&^:,<>?})];|HBEADF -158 -158 -158 -158 307 308 -158 -158 -158 -158 -158 -158 -158 \
-158 -158 -158 309 310.,}; -212.:,?})];|HB -244 -244 -244 -244 -244 -244 -244 295 -244 -244.: 503.:,?})];HB \
-246 -246 -246 -246 -246 -246 -246 -246 300.,}; -213.&^:,<->%+?})];/*|HBEADFCG \
-302.&^:,<->%+?})];/*|HBEADFCG -303.&^:,<->%+?})];/*|HBEADFCG -304.&^:,<>?})];|HBEADFCG -306 -306 -306 -306 \
-306 -306 -306 -306 -306 -306 -306 -306 -306 -306 -306 -306 -306 -306 311 312.&^:,<>?})];|HBEADFCG -307 -307 \
-307 -307 -307 -307 -307 -307 -307 -307 -307 -307 -307 -307 -307 -307 -307 -307 311 312.&^:,<>?})];|HBEADFCG \
-308 -308 -308 -308 -308 -308 -308 -308 -308 -308 -308 -308 -308 -308 -308 -308 -308 -308 311 \
312.&^:,<>?})];|HBEADFCG -309 -309 -309 -309 -309 -309 -309 -309 -309 -309 -309 -309 -309 -309 -309 -309 \
-309 -309 311 312.&^:,<->+?})];|HBEADFCG -323 -323 -323 -323 -323 313 -323 314 -323 -323 -323 -323 -323 -323 \
-323 -323 -323 -323 -323 -323 -323 -323.&^:,<->+?})];|HBEADFCG -324 -324 -324 -324 -324 313 -324 314 -324 \
-324 -324 -324 -324 -324 -324 -324 -324 -324 -324 -324 -324 -324.&^:,<->%+?})];/*|HBEADFCG -366 -366 -366 \
-366 -366 -366 -366 304 -366 -366 -366 -366 -366 -366 305 306 -366 -366 -366 -366 -366 -366 -366 -366 \
-366.&^:,<->%+?})];/*|HBEADFCG -367 -367 -367 -367 -367 -367 -367 304 -367 -367 -367 -367 -367 -367 305 306 \
-367 -367 -367 -367 -367 -367 -367 -367 -367.,; -129.,; -133.!njok{(-u+siq~m 160 31 161 162 163 164 165 166 \
33 167 168 169 34 170 171  _name:172 bit_and:173 bit_or:174 bit_xor:175 conditional:176 constant:177 \
equality:178 expression:179 generic:180 initial_value:181 initializer:504 logical_and:183 logical_or:184 \
name:185 primary:186 product:187 relation:188 shift:189 single:190 sum:191 unary:192.,; -137.ntus -208.,; \
-68.,) 468 505  __instruction_star_13:506.!njok{b([-u+s;iqc~demv -1., 507.,; 508 509.nousq 31 32 33 168 \
34  _name:172 name:510.no(usq 31 32 331 33 168 34  _name:172 arguments:511 name:512.f@hnTtSo{bMNuOs}qcJUde \
-115.f@hnTtSo{bMNuOs}qcJUde -341.YZa; 78 79 80 513  func_directive:141.YZa; 78 79 80 \
514  __function_header_star_3:515 func_directive:82.YZa(; 78 79 80 40 516  __function_header_star_3:517 \
func_directive:82 parameters:518.f@hnTtSo{bMNuOs}qcJUde -350.YZa; 78 79 80 519  func_directive:141.YZa; 78 \
79 80 520  __function_header_star_3:521 func_directive:82.YZa(; 78 79 80 40 \
522  __function_header_star_3:523 func_directive:82 parameters:524.YZa(; 78 79 80 40 \
525  __function_header_star_3:526 func_directive:82 parameters:527.nouq 31 32 33 34  _name:528.k 529.k \
530.,; -370.nouq 31 32 33 34  _name:350 target_label:531.f@hnTtSo{bMNuOs}qcJUde -346.,; 532 533.,}); \
-382.,+} -380 466 -380.,} 534 535  __vector_star_15:536.,-+] -290.,] 537 538  __address_star_16:539.,] \
-73.,-+] -74 540 541 -74.,}); -383.!njok(-u+sq~m 160 31 161 32 278 279 166 33 167 168 34 170 171  _index:542 \
_name:172 bit_and:173 bit_or:174 bit_xor:175 conditional:176 equality:178 expression:543 logical_and:183 \
logical_or:184 name:544 primary:186 product:187 relation:188 shift:189 sum:191 unary:192.!jk(-+~m 160 161 \
278 279 166 167 170 171  bit_and:173 bit_or:174 bit_xor:175 conditional:176 equality:178 expression:545 \
logical_and:183 logical_or:184 primary:186 product:187 relation:188 shift:189 sum:191 unary:192.nousq 31 32 \
33 168 34  _name:172 name:546.!njok{([-u+siq~m 352 31 161 32 278 353 165 354 355 33 167 168 169 34 170 \
171  _name:172 address:357 bit_and:173 bit_or:174 bit_xor:175 conditional:176 constant:358 equality:178 \
expression:179 logical_and:183 logical_or:184 name:359 operand:547 primary:186 product:187 relation:188 \
shift:189 single:190 sum:191 unary:192 value:361 vector:362.f@hnTtSo{bMNuOs}qcJUde -220.,; 548 549.nousq 31 \
32 33 168 34  _name:172 name:550.nob(usqcdev 31 32 330 331 33 168 34 332 333 334 335  _modifier:435 \
_name:172 arguments:551 name:552., 553.,; 554 555.f@hnTtSo{bMNuOs}qcJUde -224.,; 468 \
556  __instruction_star_13:557.n,ou}qdv -126.nou}qdv -240.nou}qdv -315.n,ou}qdv -28.k- 234 \
235  section_integer:558.) 559.k 560.,XVWYZa{O; -11.$KPfhRLSbOQcJdeI -232.,) -281.,) -282.,) -266.,) \
-267.,[) -271 99 -271  dimension:561 unsized:562.,) -272.,) -273.YZa{; 78 79 80 -199 \
-199  func_directive:141.,+}); -206.!jk(-+~m 160 161 278 279 166 167 170 171  bit_and:173 bit_or:174 \
bit_xor:175 conditional:176 equality:178 expression:563 logical_and:183 logical_or:184 primary:186 \
product:187 relation:188 shift:189 sum:191 unary:192.,}; -214.!jk(-+~m 160 161 278 279 166 167 170 \
171  bit_and:173 bit_or:174 bit_xor:175 conditional:176 equality:178 expression:564 logical_and:183 \
logical_or:184 primary:186 product:187 relation:188 shift:189 sum:191 unary:192.,} -18.!njok{(-u+siq~m 160 \
31 161 162 163 164 165 166 33 167 168 169 34 170 171  _name:172 bit_and:173 bit_or:174 bit_xor:175 \
conditional:176 constant:177 element:565 equality:178 expression:179 generic:180 initial_value:181 \
initializer:285 logical_and:183 logical_or:184 name:286 primary:186 product:187 relation:188 shift:189 \
single:190 sum:191 unary:192.,}; -216.,} -146.&^:,<->%+?})];/*|HBEADFCG -373.!jk(-+~m 160 161 278 279 166 \
167 170 171  bit_and:173 bit_or:174 bit_xor:175 conditional:566 equality:178 logical_and:183 logical_or:184 \
primary:186 product:187 relation:188 shift:189 sum:191 unary:192.,; -131.,; -67.,) 548 567.nousq 31 32 33 \
168 34  _name:172 name:568.no(usq 31 32 331 33 168 34  _name:172 arguments:569 \
name:570.f@hnTtSo{bMNuOs}qcJUde -107.,; 571 572.,; 573 574.; 575.f@hnTtSo{bMNuOs}qcJUde \
-338.f@hnTtSo{bMNuOs}qcJUde -340.YZa; 78 79 80 576  func_directive:141.f@hnTtSo{bMNuOs}qcJUde -337.YZa; 78 \
79 80 577  func_directive:141.YZa; 78 79 80 578  __function_header_star_3:579 \
func_directive:82.f@hnTtSo{bMNuOs}qcJUde -347.f@hnTtSo{bMNuOs}qcJUde -349.YZa; 78 79 80 \
580  func_directive:141.f@hnTtSo{bMNuOs}qcJUde -354.YZa; 78 79 80 581  func_directive:141.YZa; 78 79 80 \
582  __function_header_star_3:583 func_directive:82.f@hnTtSo{bMNuOs}qcJUde -358.YZa; 78 79 80 \
584  func_directive:141.YZa; 78 79 80 585  __function_header_star_3:586 func_directive:82.YZa(; 78 79 80 40 \
587  __function_header_star_3:588 func_directive:82 parameters:589.f@hnT,tSo{bMNuOs}qcJUde -343 -343 -343 \
-343 -343 590 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 -343 \
-343  _inlined:591.f@hnTtSo{bMNuOs}qcJUde -344.,; -30.nouq 31 32 33 34  _name:350 \
target_label:592.f@hnTtSo{bMNuOs}qcJUde -345.!njok(-u+siq~m 352 31 161 32 278 165 355 33 167 168 169 34 170 \
171  _name:172 bit_and:173 bit_or:174 bit_xor:175 conditional:176 constant:358 equality:178 expression:179 \
logical_and:183 logical_or:184 name:458 primary:186 product:187 relation:188 shift:189 single:190 sum:191 \
unary:192 value:593.,)];| -391.,} 594 595.no{usq 31 32 353 33 168 34  _name:172 name:596 vector:597.,);v -64 \
-64 -64 598.,] 599 600.!jk(-+~m 160 161 278 279 166 167 170 171  bit_and:173 bit_or:174 bit_xor:175 \
conditional:176 equality:178 expression:601 logical_and:183 logical_or:184 primary:186 product:187 \
relation:188 shift:189 sum:191 unary:192.!jk(-+~m 160 161 278 279 166 167 170 171  bit_and:173 bit_or:174 \
bit_xor:175 conditional:176 equality:178 expression:602 logical_and:183 logical_or:184 primary:186 \
product:187 relation:188 shift:189 sum:191 unary:192.] 603.] -37.] -38.,}); -381.,); -261.,); \
-20.!njok{([-u+siq~m 352 31 161 32 278 353 165 354 355 33 167 168 169 34 170 171  _name:172 address:357 \
bit_and:173 bit_or:174 bit_xor:175 conditional:176 constant:358 equality:178 expression:179 logical_and:183 \
logical_or:184 name:359 operand:604 primary:186 product:187 relation:188 shift:189 single:190 sum:191 \
unary:192 value:361 vector:362.f@hnTtSo{bMNuOs}qcJUde -219.,); -262., 605.,; 606 607.nousq 31 32 33 168 \
34  _name:172 name:608.no(usq 31 32 331 33 168 34  _name:172 arguments:609 name:610.f@hnTtSo{bMNuOs}qcJUde \
-99.f@hnTtSo{bMNuOs}qcJUde -223.,; 548 611.n,ou}qdv -27.,) -69.XVWa{O; -149.,) -269.,) -270.) -250.) -251.,} \
-17.:,})]; -118.,; -66.,; 612 613.,; 614 615.; 616.no(usq 31 32 331 33 168 34  _name:172 arguments:617 \
name:618.f@hnTtSo{bMNuOs}qcJUde -111.nousq 31 32 33 168 34  _name:172 name:619.f@hnTtSo{bMNuOs}qcJUde \
-113.f@hnTtSo{bMNuOs}qcJUde -114.f@hnTtSo{bMNuOs}qcJUde -339.f@hnTtSo{bMNuOs}qcJUde \
-334.f@hnTtSo{bMNuOs}qcJUde -336.YZa; 78 79 80 620  func_directive:141.f@hnTtSo{bMNuOs}qcJUde \
-348.f@hnTtSo{bMNuOs}qcJUde -351.f@hnTtSo{bMNuOs}qcJUde -353.YZa; 78 79 80 \
621  func_directive:141.f@hnTtSo{bMNuOs}qcJUde -355.f@hnTtSo{bMNuOs}qcJUde -357.YZa; 78 79 80 \
622  func_directive:141.f@hnTtSo{bMNuOs}qcJUde -362.YZa; 78 79 80 623  func_directive:141.YZa; 78 79 80 \
624  __function_header_star_3:625 func_directive:82.p 626.f@hnTtSo{bMNuOs}qcJUde -342.,; -29.,} \
-36.!njok(-u+siq~m 352 31 161 32 278 165 355 33 167 168 169 34 170 171  _name:172 bit_and:173 bit_or:174 \
bit_xor:175 conditional:176 constant:358 equality:178 expression:179 logical_and:183 logical_or:184 name:458 \
primary:186 product:187 relation:188 shift:189 single:190 sum:191 unary:192 value:627.,)];| -390.,] -5.,] \
-6.,); -63.no{usq 31 32 353 33 168 34  _name:172 name:628 vector:629.,);v -62 -62 -62 630.,] -75.,] -76.,); \
-260.,); -19.nousq 31 32 33 168 34  _name:172 name:631.no(usq 31 32 331 33 168 34  _name:172 arguments:632 \
name:633.f@hnTtSo{bMNuOs}qcJUde -91.,; 634 635.,; 636 637.; 638.f@hnTtSo{bMNuOs}qcJUde -222.no(usq 31 32 331 \
33 168 34  _name:172 arguments:639 name:640.f@hnTtSo{bMNuOs}qcJUde -103.nousq 31 32 33 168 34  _name:172 \
name:641.f@hnTtSo{bMNuOs}qcJUde -105.f@hnTtSo{bMNuOs}qcJUde -106.,; 642 643.; 644.; \
645.f@hnTtSo{bMNuOs}qcJUde -335.f@hnTtSo{bMNuOs}qcJUde -352.f@hnTtSo{bMNuOs}qcJUde \
-356.f@hnTtSo{bMNuOs}qcJUde -359.f@hnTtSo{bMNuOs}qcJUde -361.YZa; 78 79 80 646  func_directive:141.nouqv 31 \
32 33 34 236  _name:647 debug_name:238 debug_symbol:648.,} -35.,] -3.,] -4.,); -61.,; 649 650.,; 651 652.; \
653.no(usq 31 32 331 33 168 34  _name:172 arguments:654 name:655.f@hnTtSo{bMNuOs}qcJUde -95.nousq 31 32 33 \
168 34  _name:172 name:656.f@hnTtSo{bMNuOs}qcJUde -97.f@hnTtSo{bMNuOs}qcJUde -98.,; 657 658.; 659.; \
660.nousq 31 32 33 168 34  _name:172 name:661.f@hnTtSo{bMNuOs}qcJUde -109.f@hnTtSo{bMNuOs}qcJUde \
-110.f@hnTtSo{bMNuOs}qcJUde -112.f@hnTtSo{bMNuOs}qcJUde -360.,+ -123., 662.no(usq 31 32 331 33 168 \
34  _name:172 arguments:663 name:664.f@hnTtSo{bMNuOs}qcJUde -87.nousq 31 32 33 168 34  _name:172 \
name:665.f@hnTtSo{bMNuOs}qcJUde -89.f@hnTtSo{bMNuOs}qcJUde -90.,; 666 667.; 668.; 669.nousq 31 32 33 168 \
34  _name:172 name:670.f@hnTtSo{bMNuOs}qcJUde -101.f@hnTtSo{bMNuOs}qcJUde -102.f@hnTtSo{bMNuOs}qcJUde -104.; \
671.r 672.,; 673 674.; 675.; 676.nousq 31 32 33 168 34  _name:172 name:677.f@hnTtSo{bMNuOs}qcJUde \
-93.f@hnTtSo{bMNuOs}qcJUde -94.f@hnTtSo{bMNuOs}qcJUde -96.; 678.f@hnTtSo{bMNuOs}qcJUde -108.k 679.nousq 31 \
32 33 168 34  _name:172 name:680.f@hnTtSo{bMNuOs}qcJUde -85.f@hnTtSo{bMNuOs}qcJUde \
-86.f@hnTtSo{bMNuOs}qcJUde -88.; 681.f@hnTtSo{bMNuOs}qcJUde -100.k 682.; 683.f@hnTtSo{bMNuOs}qcJUde -92.k \
684.f@hnTtSo{bMNuOs}qcJUde -84.f@hnTtSo{bMNuOs}qcJUde -39""".replace(".", "\n")
